"""Contract suites and fakes that ship with the package."""
