import { createColumnHelper } from '@tanstack/react-table';
import { Change, Money, Score } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { Time } from '@/components/Time';
import { count, interval, milliseconds, percent } from '@/lib/format';
import type { Point } from '../points';

/** A row as the table shows it: the point and what it is compared with. */
export interface Row {
  point: Point;
  index: number;
  baseline: number | null;
  best: boolean;
}

declare module '@tanstack/react-table' {
  interface ColumnMeta<TData, TValue> {
    label: string;
    width: number;
    number?: boolean;
    /** Not shown until somebody picks it. */
    extra?: boolean;
  }
}

const { display } = createColumnHelper<Row>();
const dash = <span className="muted">–</span>;

/** All columns in their order; ids are what the address and the sorting use. */
export const COLUMNS = [
  display({
    id: 'number',
    meta: { label: 'Trial', width: 112 },
    cell: ({ row: { original: row } }) => (
      <span className="row trials-name">
        {row.point.number === 0 ? 'Baseline' : `#${row.point.number}`}
        {row.best && <span className="badge accent">★ best</span>}
      </span>
    ),
  }),
  display({
    id: 'kind',
    meta: { label: 'Kind', width: 104, extra: true },
    cell: ({ row }) => row.original.point.kind,
  }),
  display({
    id: 'status',
    meta: { label: 'Status', width: 124 },
    cell: ({ row }) => <Status value={row.original.point.status} />,
  }),
  display({
    id: 'score',
    meta: { label: 'Score', width: 72, number: true },
    cell: ({ row }) => <Score value={row.original.point.score} />,
  }),
  display({
    id: 'change',
    meta: { label: 'Change', width: 80, number: true },
    cell: ({ row: { original: row } }) => (
      <Change
        value={
          row.point.kind !== 'trial' || row.point.score === null || row.baseline === null
            ? null
            : row.point.score - row.baseline
        }
      />
    ),
  }),
  display({
    id: 'interval',
    meta: { label: '95% interval', width: 130, number: true },
    cell: ({ row }) => interval(row.original.point.ci_low, row.original.point.ci_high) || dash,
  }),
  display({
    id: 'passed',
    meta: { label: 'Passed', width: 104, number: true, extra: true },
    cell: ({ row }) => {
      const { passed, items, pass_rate: rate } = row.original.point;
      return items > 0 ? <span title={percent(rate, 1)}>{`${passed} of ${items}`}</span> : dash;
    },
  }),
  display({
    id: 'parents',
    meta: { label: 'From', width: 112 },
    cell: ({ row }) =>
      row.original.point.parents.map((one) => (one === 0 ? 'baseline' : `#${one}`)).join(', ') ||
      dash,
  }),
  display({
    id: 'tokens',
    meta: { label: 'Tokens', width: 76, number: true },
    cell: ({ row }) => count(row.original.point.avg_tokens),
  }),
  display({
    id: 'latency',
    meta: { label: 'Latency', width: 84, number: true },
    cell: ({ row }) => milliseconds(row.original.point.avg_latency_ms),
  }),
  display({
    id: 'cost',
    meta: { label: 'Cost', width: 80, number: true },
    cell: ({ row }) => <Money value={row.original.point.cost_usd} />,
  }),
  display({
    id: 'cost_so_far',
    meta: { label: 'Spent so far', width: 110, number: true, extra: true },
    cell: ({ row }) => <Money value={row.original.point.cost_so_far_usd} />,
  }),
  display({
    id: 'evaluations',
    meta: { label: 'Evaluations', width: 110, number: true, extra: true },
    cell: ({ row }) => count(row.original.point.evaluations),
  }),
  display({
    id: 'model',
    meta: { label: 'Model', width: 180, extra: true },
    cell: ({ row }) => row.original.point.model ?? dash,
  }),
  display({
    id: 'step',
    meta: { label: 'Step', width: 72, number: true, extra: true },
    cell: ({ row }) => count(row.original.point.step_index),
  }),
  display({
    id: 'created',
    meta: { label: 'Begun', width: 128, extra: true },
    cell: ({ row }) => <Time at={row.original.point.created_at} />,
  }),
  display({
    id: 'finished',
    meta: { label: 'Ended', width: 128, extra: true },
    cell: ({ row }) => <Time at={row.original.point.finished_at} />,
  }),
  display({
    id: 'rationale',
    meta: { label: 'Why', width: 200 },
    cell: ({ row: { original: row } }) =>
      row.point.error ? (
        <span className="bad" title={row.point.error}>
          {row.point.error}
        </span>
      ) : (
        <span className="muted" title={row.point.rationale ?? ''}>
          {row.point.rationale}
        </span>
      ),
  }),
];

export const COLUMN_IDS = COLUMNS.map((column) => column.id ?? '');
const USUAL = COLUMNS.filter((column) => !column.meta?.extra).map((column) => column.id ?? '');

const WITH_MODEL = COLUMN_IDS.filter((id) => id === 'model' || USUAL.includes(id));

/** Columns out of the address; where it names none, the usual ones, and the model of a run that
 * may choose it. The number always stays. */
export function asColumns(text: string, models = false): string[] {
  const named = text.split('.').filter((one) => COLUMN_IDS.includes(one));
  if (named.length === 0) return models ? WITH_MODEL : USUAL;
  return COLUMN_IDS.filter((id) => id === 'number' || named.includes(id));
}

export function writeColumns(columns: readonly string[], models = false): string | null {
  const shown = asColumns('', models);
  const usual = columns.length === shown.length && shown.every((one) => columns.includes(one));
  return usual ? null : columns.join('.');
}
