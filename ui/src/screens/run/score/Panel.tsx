import { useCallback, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { ChartFrame } from '@/components/ChartFrame';
import { Empty } from '@/components/States';
import { Status } from '@/components/Status';
import { Segmented } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { count, interval, money, score } from '@/lib/format';
import type { Point, PanelProps } from '../points';
import {
  asAxis,
  AXES,
  axisText,
  emptyAxis,
  marksOf,
  stepsOf,
  withBest,
  type Axis,
  type Mark,
  type RowWithBest,
} from './axis';
import { PointCard } from './TrialCard';
import { ScoreChart } from './Chart';
import { looksIn } from './shapes';
import { Legend, Toggle } from './Legend';
import { PagedTable, type TableColumn } from './Table';
import { Measured } from './Frame';
import { sentence } from './words';
import './score.css';

/** Scores of all trials along the run, with the best so far. */
export default function ScorePanel({ runId, set, running }: PanelProps) {
  const address = useAddress();
  const [, go] = useLocation();
  const axis = asAxis(address.get('x'));
  const mini = address.get('mini') === '1';
  const bars = address.get('bars') !== '0';
  const hasMini = useMemo(() => set.points.some((point) => point.kind === 'mini-batch'), [set]);
  const marks = useMemo(() => marksOf(set, axis, mini), [set, axis, mini]);
  const steps = useMemo(() => stepsOf(set, axis), [set, axis]);
  const looks = useMemo(
    () =>
      looksIn(
        marks.map((mark) => mark.point),
        set.best,
      ),
    [marks, set],
  );
  const baseline = set.points.find((point) => point.kind === 'baseline')?.score ?? null;
  const open = useCallback(
    (point: Point) => go(`/runs/${runId}/candidates/${point.candidate_id}`),
    [go, runId],
  );
  if (set.points.length === 0) return <NothingYet running={running} />;
  const missing = emptyAxis(axis, set);
  return (
    <ChartFrame
      title="Score by trial"
      controls={
        <>
          <Segmented
            label="Along"
            options={AXES}
            chosen={axis}
            onChoose={(value) => address.set({ x: value === 'trial' ? null : value, zoom: null })}
          />
          <Toggle
            label="Intervals"
            checked={bars}
            onChange={(on) => address.set({ bars: on ? null : '0' })}
          />
          {hasMini && (
            <Toggle
              label="Mini-batches"
              checked={mini}
              onChange={(on) => address.set({ mini: on ? '1' : null })}
            />
          )}
        </>
      }
      chart={
        <Measured panel="score" foot={<Legend looks={looks} />}>
          {(width) =>
            missing ? (
              <Empty title={missing}>Choose another axis to see the scores.</Empty>
            ) : (
              <ScoreChart
                axis={axis}
                marks={marks}
                steps={steps}
                set={set}
                width={width}
                bars={bars}
                baseline={baseline}
                zoom={address.get('zoom')}
                onZoom={(text) => address.set({ zoom: text })}
                describe={(mark) =>
                  sentence(mark.point, baseline, set.best) +
                  (axis === 'trial' ? '' : `, ${axisText(axis, mark.x)}`)
                }
                card={(mark) => (
                  <PointCard
                    point={mark.point}
                    baseline={baseline}
                    best={set.best}
                    foot={<span className="small muted">Click or press Enter to open it</span>}
                  />
                )}
                onOpen={(mark) => open(mark.point)}
              />
            )
          }
        </Measured>
      }
      table={<ScoreTable runId={runId} marks={marks} steps={steps} axis={axis} />}
    />
  );
}

function NothingYet({ running }: { running: boolean }) {
  return (
    <div className="card">
      <Empty title={running ? 'The first scores are on their way' : 'No trial was made'}>
        {running
          ? 'The baseline is evaluated first; this fills by itself.'
          : 'The explanation above says why; duplicate the run to try again.'}
      </Empty>
    </div>
  );
}

function ScoreTable({
  runId,
  marks,
  steps,
  axis,
}: {
  runId: string;
  marks: readonly Mark[];
  steps: ReturnType<typeof stepsOf>;
  axis: Axis;
}) {
  const rows = useMemo(() => withBest(marks, steps), [marks, steps]);
  const columns: TableColumn<RowWithBest>[] = [
    {
      name: 'Trial',
      cell: ({ mark: { point } }) => (
        <Link href={`/runs/${runId}/candidates/${point.candidate_id}`}>
          {point.kind === 'baseline' ? 'Baseline' : `#${point.number}`}
          {point.kind === 'mini-batch' && ' (mini-batch)'}
        </Link>
      ),
    },
    { name: 'Status', cell: ({ mark }) => <Status value={mark.point.status} /> },
    { name: 'Score', number: true, cell: ({ mark }) => score(mark.point.score) },
    {
      name: '95% interval',
      number: true,
      cell: ({ mark: { point } }) => interval(point.ci_low, point.ci_high) || '–',
    },
    { name: 'Best so far', number: true, cell: ({ best }) => score(best) },
    { name: 'Evaluations', number: true, cell: ({ mark }) => count(mark.point.evaluations) },
    { name: 'Spent so far', number: true, cell: ({ mark }) => money(mark.point.cost_so_far_usd) },
  ];
  if (axis === 'time')
    columns.push({ name: 'Time', number: true, cell: ({ mark }) => axisText('time', mark.x) });
  return (
    <PagedTable
      caption="Scores by trial"
      rows={rows}
      columns={columns}
      keyOf={({ mark }) => mark.point.experiment_id}
    />
  );
}
