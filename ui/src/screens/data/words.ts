import type { Schemas } from '@/api/client';
import { count, percent } from '@/lib/format';

type Suite = Schemas['SuiteView'];
export type Scorer = Suite['scorers'][number];

/** A value of an item as one line of text. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

/** Columns that most items have, in the order in which they first stand; at most `most`. */
export function columnsOf(
  rows: readonly { data: Record<string, unknown> }[],
  most: number,
): string[] {
  const seen = new Map<string, number>();
  for (const row of rows)
    for (const name of Object.keys(row.data)) seen.set(name, (seen.get(name) ?? 0) + 1);
  return [...seen]
    .filter(([name, times]) => times * 2 >= rows.length && !['id', 'split'].includes(name))
    .slice(0, most)
    .map(([name]) => name);
}

/** What a scorer is called, and its settings apart from that. */
export function scorerParts(scorer: Scorer): {
  kind: string;
  settings: [string, string][];
} {
  if (typeof scorer === 'string') return { kind: scorer, settings: [] };
  const { kind, ...rest } = scorer;
  return {
    kind: asText(kind),
    settings: Object.entries(rest).map(([name, value]) => [name, asText(value)]),
  };
}

export function splitWords(split: Suite['split']): string {
  if (split === null || split === undefined) return 'No split: all items are used everywhere';
  if (split === 'field') return 'Each item says its split itself';
  return Object.entries(split)
    .map(([name, share]) => `${percent(Number(share))} ${name}`)
    .join(', ');
}

const ORDER = ['train', 'validation', 'test'];

/** The shares of the splits, in the order in which they are used. */
export function shares(
  splits: Readonly<Record<string, number>>,
): { name: string; items: number; share: number }[] {
  const all = Object.values(splits).reduce((sum, items) => sum + items, 0);
  return Object.entries(splits)
    .filter(([, items]) => items > 0)
    .toSorted(([one], [other]) => ORDER.indexOf(one) - ORDER.indexOf(other))
    .map(([name, items]) => ({ name, items, share: items / all }));
}

export function itemsWords(shown: number, total: number | null): string {
  if (total === null) return `${count(shown)} shown`;
  return total === shown ? count(total) : `${count(shown)} of ${count(total)}`;
}

const FORMATS: Record<string, { format: 'jsonl' | 'csv' | 'json'; type: string }> = {
  jsonl: { format: 'jsonl', type: 'application/x-ndjson' },
  ndjson: { format: 'jsonl', type: 'application/x-ndjson' },
  csv: { format: 'csv', type: 'text/csv' },
  json: { format: 'json', type: 'application/json' },
};

/** What a file's name says that it holds; null where it says nothing that can be read. */
export function formatOf(file: string): { format: 'jsonl' | 'csv' | 'json'; type: string } | null {
  return FORMATS[file.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
}

/** A name that the server takes, from a file's. */
export function nameFrom(file: string): string {
  const bare = file.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9._-]+/g, '-');
  return bare.replace(/^[^A-Za-z0-9]+/, '').slice(0, 100);
}

/** Whether a suite's outputs are refined, and how. */
export function refineWords(refine: Suite['refine']): { value: string; below: string } {
  if (!refine || refine.limit === 0 || refine.model === null)
    return { value: 'no', below: 'each is judged once' };
  const times = refine.limit === 1 ? 'once' : `up to ${refine.limit} times`;
  const until = refine.threshold === null ? 'a perfect score' : String(refine.threshold);
  const where = refine.trials ? ', in optimizations too' : '';
  return {
    value: times,
    below: `by ${refine.model} until ${until}, the ${refine.answer} counts${where}`,
  };
}

/** Who judges: rules, models or both, by the scorers that there are. */
export function judgedBy(suite: { scorers: readonly Scorer[]; mode: string }): {
  value: string;
  below: string;
} {
  const asked = suite.scorers.filter(asksModel).length;
  if (asked === 0) return { value: 'rules', below: 'no model is asked' };
  if (suite.mode === 'schema')
    return { value: 'rules', below: 'schema mode: its judges are not asked' };
  const rules = asked < suite.scorers.length;
  return { value: rules ? 'rules and a model' : 'a model', below: 'by its criteria' };
}

function asksModel(scorer: Scorer): boolean {
  if (typeof scorer === 'string') return false;
  const inner = (scorer.scorers ?? []) as readonly Scorer[];
  return (typeof scorer.model === 'string' && scorer.model !== '') || inner.some(asksModel);
}
