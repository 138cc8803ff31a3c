import type { Point } from '../points';

type Cell = string | number | null;

/** Quoted where it must be. A spreadsheet would run what begins like a formula: it gets a quote. */
export function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^\s*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) || safe !== safe.trim() ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** Lines as RFC 4180 has them. */
export function csv(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [names, ...rows].map((row) => row.map(csvCell).join(',') + '\r\n').join('');
}

/** What a column writes: the exact value, not the one rounded for people. */
const CELLS: Record<string, [string, (point: Point) => Cell][]> = {
  number: [['number', (point) => point.number]],
  kind: [['kind', (point) => point.kind]],
  status: [['status', (point) => point.status]],
  score: [['score', (point) => point.score]],
  interval: [
    ['ci_low', (point) => point.ci_low],
    ['ci_high', (point) => point.ci_high],
  ],
  parents: [['parents', (point) => point.parents.join(' ')]],
  passed: [
    ['passed', (point) => point.passed],
    ['items', (point) => point.items],
  ],
  evaluations: [['evaluations', (point) => point.evaluations]],
  tokens: [['avg_tokens', (point) => point.avg_tokens]],
  latency: [['avg_latency_ms', (point) => point.avg_latency_ms]],
  cost: [['cost_usd', (point) => point.cost_usd]],
  cost_so_far: [['cost_so_far_usd', (point) => point.cost_so_far_usd]],
  model: [['model', (point) => point.model ?? null]],
  step: [['step_index', (point) => point.step_index]],
  created: [['created_at', (point) => point.created_at]],
  finished: [['finished_at', (point) => point.finished_at]],
  rationale: [
    ['rationale', (point) => point.rationale],
    ['error', (point) => point.error],
  ],
};

/** The shown columns of the shown rows, with the candidate's id to find it again. */
export function trialsCsv(
  points: readonly Point[],
  columns: readonly string[],
  baseline: number | null,
): string {
  const cells = columns.flatMap((column): [string, (point: Point) => Cell][] =>
    column === 'change'
      ? [
          [
            'change',
            (point) => (point.score === null || baseline === null ? null : point.score - baseline),
          ],
        ]
      : (CELLS[column] ?? []),
  );
  cells.push(['candidate_id', (point) => point.candidate_id]);
  return csv(
    cells.map(([name]) => name),
    points.map((point) => cells.map(([, cell]) => cell(point))),
  );
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser needs it until it has begun to save.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
