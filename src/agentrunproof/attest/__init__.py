"""What is said about files rather than in records: checksums."""
