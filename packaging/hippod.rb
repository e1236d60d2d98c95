# Template of a Homebrew formula for Linux. `cargo xtask dist` fills in the words between `@`.
class Hippod < Formula
  desc "Memory daemon for AI agents, with search by keyword and by meaning"
  url "@URL@/@ARCHIVE@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on arch: :x86_64
  depends_on :linux

  def install
    prefix.install "bin", "lib", "share"
  end

  service do
    run [opt_bin/"hippod", "run"]
    keep_alive crashed: true
  end

  test do
    ENV["HIPPOD_HOME"] = testpath/"home"
    assert_match "an aisle seat", shell_output("#{bin}/hippoctl demo")
  end
end
