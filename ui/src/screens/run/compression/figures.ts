import type { Schemas } from '@/api/client';
import { change, counted, interval, percent } from '@/lib/format';

type Report = Schemas['CompressionView'];

/** How wide two bars are, as shares of the longest. */
export function bars(
  sections: readonly { path: string; before: number; after: number }[],
): { path: string; before: number; after: number; wide: number; narrow: number }[] {
  const longest = Math.max(1, ...sections.map((one) => Math.max(one.before, one.after)));
  return sections.map((one) => ({
    ...one,
    wide: one.before / longest,
    narrow: one.after / longest,
  }));
}

export function saved(before: number, after: number): string {
  if (before === 0) return '–';
  return percent((after - before) / before);
}

/** What the held-out items say, in one sentence. */
export function heldOutWords(report: Pick<Report, 'held_out' | 'refuted' | 'confirmation'>): {
  tone: 'good' | 'bad' | 'warn';
  text: string;
} {
  const { held_out: seen } = report;
  if (!seen)
    return { tone: 'warn', text: `Not checked on held-out items: ${report.confirmation}.` };
  const range = interval(seen.ci_low, seen.ci_high);
  const text =
    `${change(seen.delta ?? seen.best_score - seen.baseline_score)} on ${counted(seen.items, 'item')} ` +
    `that no cut was chosen on${range && ` (95% interval ${range})`}.`;
  if (report.refuted)
    return { tone: 'bad', text: `Worse: ${text} The short prompt should not be used.` };
  return { tone: 'good', text: `Not worse: ${text}` };
}

export interface Refused {
  section: string;
  edits: Report['rejected'];
}

/** Refused cuts by section, those that would have saved most first. */
export function refusedBySection(rejected: Report['rejected']): Refused[] {
  const found = new Map<string, Report['rejected']>();
  for (const edit of rejected)
    found.set(edit.section_path, [...(found.get(edit.section_path) ?? []), edit]);
  return [...found].map(([section, edits]) => ({
    section,
    edits: [...edits].sort((one, other) => other.token_reduction - one.token_reduction),
  }));
}
