# Uses the service as a person would in a day, under a separate `systemd --user` in its own namespaces. Exits with 77
# if this machine cannot run one. $SCRATCH contains the programs, the home and the recorded output.
set -u
if [ "${1:-}" != day ]; then
    # Runs as root in namespaces of mounts and control groups. Creates a control group and folders for the manager.
    umount -R /sys/fs/cgroup 2>/dev/null
    mount -t cgroup2 cgroup2 /sys/fs/cgroup || exit 77
    group=/sys/fs/cgroup/hippod-test-$$
    mkdir -p "$group/session" || exit 77
    mount -t tmpfs tmpfs /run/systemd && mkdir -p /run/systemd/system || exit 77
    chown -R 65534:65534 "$group" "$SCRATCH/home" "$SCRATCH/run" || exit 77
    echo $$ > "$group/session/cgroup.procs" || exit 77
    setpriv --reuid=65534 --regid=65534 --clear-groups sh "$0" day
    ended=$?
    echo $$ > /sys/fs/cgroup/cgroup.procs
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
    exit $ended
fi

export HOME="$SCRATCH/home" XDG_RUNTIME_DIR="$SCRATCH/run" PATH="$SCRATCH/bin:/usr/bin:/bin"
unset DBUS_SESSION_BUS_ADDRESS NOTIFY_SOCKET LISTEN_FDS LISTEN_PID
"$SYSTEMD" --user --log-target=console > "$SCRATCH/home/systemd.log" 2>&1 &
manager=$!
until systemctl --user show --property=Version > /dev/null 2>&1; do
    kill -0 $manager 2> /dev/null || { cat "$SCRATCH/home/systemd.log"; exit 77; }
done
pid() { systemctl --user show hippod.service --property=MainPID --value; }
say() { echo "== $1"; }

say install
hippoctl service install || exit 1
systemctl --user show hippod.service --property=ActiveState,Type,NRestarts
say confined
grep -E '^(NoNewPrivs|Seccomp|CapBnd):' "/proc/$(pid)/status"
grep -E ' /(usr|etc) ' "/proc/$(pid)/mountinfo" | cut -d' ' -f5,6
say use
cd "$HOME/agent" || exit 1
hippoctl workspace add
hippoctl sync --wait > /dev/null
hippoctl remember "the harbour pump is blue" --topic Pump
hippoctl search --mode lexical pump
say killed
old=$(pid)
kill -9 "$old"
until [ "$(pid)" != "$old" ] && [ "$(pid)" != 0 ]; do :; done
# The daemon may still be closing its last connection or opening the workspace, so repeat the search.
tries=0
until hippoctl search --mode lexical "harbour pump" | grep "harbour pump is blue" || [ $tries = 300 ]; do
    tries=$((tries + 1))
done
systemctl --user show hippod.service --property=NRestarts
say stopped
hippoctl service stop
until systemctl --user show hippod.service --property=ActiveState | grep -q inactive; do :; done
hippoctl --no-start status | head -1
say again
hippoctl service install
say told
hippoctl service status
hippoctl doctor --verbose | grep -i service
say uninstall
hippoctl service uninstall
hippoctl --no-start status
ls -R "$HOME/.config/systemd/user"
[ -e "$XDG_RUNTIME_DIR/hippod/hippod.sock" ] && echo "the socket is still there"
kill $manager
wait $manager
exit 0
