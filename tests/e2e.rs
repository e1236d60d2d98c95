//! End to end scenarios through the socket.
