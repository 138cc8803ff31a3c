/** Why a proposal was not run, for people. */
const REASONS: Record<string, string> = {
  duplicate: 'Already tried',
  empty_section: 'A section would be empty',
  placeholder_dropped: 'A placeholder was dropped',
  placeholder_unknown: 'A placeholder that no item has',
  section_too_long: 'A section is too long',
  section_locked: 'A locked section was changed',
  section_missing: 'A section is missing',
  unknown_field: 'A field that does not exist',
  unknown_parent: 'A parent that does not exist',
  unknown_item: 'An item that does not exist',
  parameter_out_of_range: 'A parameter out of its range',
  too_many_examples: 'Too many examples',
  budget: 'Not enough budget left',
};

export function reasonWords(code: string): string {
  const words = REASONS[code] ?? code.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export interface ReasonCount {
  code: string;
  count: number;
}

/** How often each reason was given, the most frequent first. */
export function reasonCounts(codes: readonly string[]): ReasonCount[] {
  const found = new Map<string, number>();
  for (const code of codes) found.set(code, (found.get(code) ?? 0) + 1);
  return [...found]
    .map(([code, count]) => ({ code, count }))
    .sort((one, other) => other.count - one.count || one.code.localeCompare(other.code));
}
