"""One engine for queued work: queue, lease, executor and event hub."""
