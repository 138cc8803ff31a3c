"""Labels of people: making sets, labelling blind, agreement, versions, and CSV in and out."""
