"""The `joint` optimizer: texts, examples, label words and parameters in one race."""
