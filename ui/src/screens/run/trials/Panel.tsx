import { useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { Card } from '@/components/Card';
import { Empty } from '@/components/States';
import { useAddress } from '@/lib/address';
import { counted } from '@/lib/format';
import { choosesModel, type PointSet, type PanelProps } from '../points';
import { asColumns } from './columns';
import { download, trialsCsv } from './csv';
import { TrialsFilters } from './Filters';
import { TrialsGrid } from './Grid';
import { asKind, asNumber, filtered, nextSort, picked, sorted, type View } from './view';
import '../score/score.css';
import './trials.css';

/** All trials as rows: to sort, to narrow down, to compare, to take away. */
export default function TrialsPanel({ runId, set, running }: PanelProps) {
  const address = useAddress();
  const [, go] = useLocation();
  const view = useMemo(
    (): View => ({
      q: address.get('q'),
      statuses: address.getAll('status'),
      kind: asKind(address.get('kind')),
      low: asNumber(address.get('min')),
      high: asNumber(address.get('max')),
      sort: address.get('sort'),
    }),
    [address],
  );
  const models = choosesModel(set.points);
  const columns = useMemo(() => asColumns(address.get('cols'), models), [address, models]);
  const chosen = useMemo(() => address.getAll('pick'), [address]);
  const found = useMemo(() => filtered(set.points, view), [set.points, view]);
  const rows = useMemo(() => sorted(found, view.sort), [found, view.sort]);
  const baseline = set.points.find((point) => point.kind === 'baseline')?.score ?? null;
  const hasMini = useMemo(() => set.points.some((point) => point.kind === 'mini-batch'), [set]);
  return (
    <Card
      title="Trials"
      flush
      actions={
        <>
          <span className="small muted" role="status">
            {counted(rows.length, 'row')}
          </span>
          <Compare runId={runId} set={set} chosen={chosen} />
          <button
            type="button"
            className="btn small"
            disabled={rows.length === 0}
            onClick={() =>
              download(`trials-${runId.slice(-8)}.csv`, trialsCsv(rows, columns, baseline))
            }
          >
            Download CSV
          </button>
        </>
      }
    >
      <TrialsFilters
        address={address}
        view={view}
        columns={columns}
        hasMini={hasMini}
        models={models}
      />
      {rows.length === 0 ? (
        <Nothing all={set.points.length} running={running} />
      ) : (
        <TrialsGrid
          rows={rows}
          columns={columns}
          sort={view.sort}
          best={set.best}
          baseline={baseline}
          chosen={chosen}
          onSort={(column) => address.set({ sort: nextSort(view.sort, column) })}
          onPick={(point) => address.set({ pick: picked(chosen, point.number) })}
          onOpen={(point) => go(`/runs/${runId}/candidates/${point.candidate_id}`)}
        />
      )}
    </Card>
  );
}

function Nothing({ all, running }: { all: number; running: boolean }) {
  if (all > 0)
    return <Empty title="No trial fits">Widen the score range or clear the filters above.</Empty>;
  return (
    <Empty title={running ? 'No trial yet' : 'No trial was made'}>
      {running
        ? 'Rows come by themselves as candidates are tried.'
        : 'The explanation above says why; duplicate the run to try again.'}
    </Empty>
  );
}

function Compare({
  runId,
  set,
  chosen,
}: {
  runId: string;
  set: PointSet;
  chosen: readonly string[];
}) {
  const [before, after] = chosen
    .map((number) => set.byNumber.get(Number(number)))
    .filter((point) => point !== undefined);
  if (!before) return null;
  if (!after) return <span className="small muted">Choose one more to compare</span>;
  return (
    <Link
      className="btn small primary"
      href={`/runs/${runId}/candidates/${after.candidate_id}?against=${before.candidate_id}`}
    >
      Compare #{before.number} with #{after.number}
    </Link>
  );
}
