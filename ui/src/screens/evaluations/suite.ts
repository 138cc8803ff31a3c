import type { Schemas } from '@/api/client';

export type SuiteView = Schemas['SuiteView'];
type Table = Record<string, unknown>;

/** All scorers of a suite as tables, also those within others. */
function tables(value: unknown): Table[] {
  if (Array.isArray(value)) return value.flatMap(tables);
  if (typeof value !== 'object' || value === null) return [];
  const table = value as Table;
  return [table, ...tables(table.scorers)];
}

export interface Judge {
  model: string;
  criteria: string;
}

export function judgesOf(suite: Pick<SuiteView, 'scorers'> | undefined): Judge[] {
  return tables(suite?.scorers)
    .filter((one) => one.kind === 'judge')
    .map((one) => ({
      model: String(one.model ?? ''),
      criteria: String(one.criteria ?? '').trim(),
    }));
}

/** Fields of a row that scorers compare an output with. */
export function expectedFields(suite: Pick<SuiteView, 'scorers'> | undefined): Set<string> {
  const named = tables(suite?.scorers)
    .filter((one) => one.kind !== 'judge')
    .map((one) => one.field)
    .filter((field): field is string => typeof field === 'string');
  return new Set([...named, 'expected', 'expected_calls']);
}

/** A row in two parts: what the agent was given, and what was expected of it. */
export function rowParts(
  input: Record<string, unknown> | null,
  expected: ReadonlySet<string>,
): { given: [string, unknown][]; expected: [string, unknown][] } {
  const fields = Object.entries(input ?? {});
  return {
    given: fields.filter(([name]) => !expected.has(name)),
    expected: fields.filter(([name]) => expected.has(name)),
  };
}
