"""Releases: charge a plan, answer it with noise, write the release file, and read it as a consumer."""
