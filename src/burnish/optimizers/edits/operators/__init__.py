"""Edit operators: each file knows one family of mechanical edits of a configuration."""
