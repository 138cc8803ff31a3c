import { curveStepAfter, line } from 'd3-shape';
import { useCallback, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { ChartFrame } from '@/components/ChartFrame';
import { Change } from '@/components/Numbers';
import { Empty } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { counted, interval, score } from '@/lib/format';
import {
  choosesModel,
  front,
  measured,
  type Measure,
  type Point,
  type PointSet,
  type PanelProps,
} from '../points';
import {
  airy,
  asMeasure,
  emptyMeasure,
  frontLine,
  MEASURE_TITLE,
  MEASURES,
  measureText,
  tickText,
  tradeOffs,
} from './marks';
import { yRange, type Mark } from '../score/axis';
import { PointCard } from '../score/TrialCard';
import { Frame, Measured } from '../score/Frame';
import { Legend } from '../score/Legend';
import { Plot } from '../score/Plot';
import { MARGIN, scales as scalesOf, type Scales } from '../score/scale';
import { looksIn } from '../score/shapes';
import { PagedTable, type TableColumn } from '../score/Table';
import { sentence } from '../score/words';
import './pareto.css';

/** What a better score costs: score against tokens, cost or latency. */
export default function ParetoPanel({ runId, set, running }: PanelProps) {
  const address = useAddress();
  const [, go] = useLocation();
  const measure = asMeasure(address.get('by'));
  const marks = useMemo(() => tradeOffs(set, measure), [set, measure]);
  const members = useMemo(() => front(set.points, measure), [set, measure]);
  const looks = useMemo(
    () =>
      looksIn(
        marks.map((mark) => mark.point),
        set.best,
      ),
    [marks, set],
  );
  const baseline = set.points.find((point) => point.kind === 'baseline') ?? null;
  const open = useCallback(
    (mark: Mark) => go(`/runs/${runId}/candidates/${mark.point.candidate_id}`),
    [go, runId],
  );
  const missing = emptyMeasure(marks, measure);
  const onFront = new Set(members);
  return (
    <ChartFrame
      title="Score against what it takes"
      controls={
        <Segmented
          label="Against"
          options={MEASURES}
          chosen={measure}
          onChoose={(value) => address.set({ by: value === 'tokens' ? null : value })}
        />
      }
      chart={
        <Measured
          panel="pareto"
          foot={
            <Legend looks={looks}>
              <li>
                <svg width="20" height="16" viewBox="0 0 20 16" aria-hidden="true">
                  <path d="M1 12 H8 V5 H19" className="pareto-front" />
                </svg>
                Front: {counted(members.length, 'candidate')}
              </li>
            </Legend>
          }
        >
          {(width) =>
            missing ? (
              <Empty title={running && marks.length === 0 ? 'No trial has ended yet' : missing}>
                {running && marks.length === 0
                  ? 'This fills by itself as trials end.'
                  : 'Choose another measure above.'}
              </Empty>
            ) : (
              <ParetoChart
                {...{ marks, members, measure, set, width, baseline }}
                describe={(mark) =>
                  `${sentence(mark.point, baseline?.score ?? null, set.best)}, ${measureText(measure, mark.x)} per item${mark.point.model ? `, by ${mark.point.model}` : ''}${onFront.has(mark.point) ? ', on the front' : ''}`
                }
                card={(mark) => (
                  <PointCard
                    point={mark.point}
                    baseline={baseline?.score ?? null}
                    best={set.best}
                    foot={
                      <span className="small muted">
                        {onFront.has(mark.point)
                          ? 'On the front: none is better and as cheap.'
                          : 'Another one is better and no dearer.'}
                      </span>
                    }
                  />
                )}
                onOpen={open}
              />
            )
          }
        </Measured>
      }
      table={<FrontTable {...{ runId, marks, members, measure, baseline, set }} />}
    />
  );
}

function ParetoChart({
  marks,
  members,
  measure,
  set,
  width,
  baseline,
  describe,
  card,
  onOpen,
}: {
  marks: readonly Mark[];
  members: readonly Point[];
  measure: Measure;
  set: PointSet;
  width: number;
  baseline: Point | null;
  describe(mark: Mark): string;
  card(mark: Mark): React.ReactNode;
  onOpen(mark: Mark): void;
}) {
  const height = width < 520 ? 300 : 400;
  const scales = useMemo(
    () => scalesOf({ width, height }, airy(marks), yRange(marks), false),
    [width, height, marks],
  );
  const ticks = scales.x.ticks(Math.max(2, Math.floor(width / 120)));
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  return (
    <Plot
      label={`Score against ${measure}, ${counted(marks.length, 'candidate')}`}
      marks={marks}
      scales={scales}
      best={set.best}
      bars={false}
      describe={describe}
      card={card}
      onOpen={onOpen}
      under={
        <>
          <Frame
            scales={scales}
            rail={false}
            xTicks={ticks}
            xText={(value) => tickText(measure, value, step)}
            xTitle={MEASURE_TITLE[measure]}
            yText={(value) => score(value)}
          />
          <Crosshair point={baseline} measure={measure} scales={scales} />
          <FrontLine members={members} measure={measure} scales={scales} />
        </>
      }
    />
  );
}

/** Up and to the left of the baseline is better in both. */
function Crosshair({
  point,
  measure,
  scales,
}: {
  point: Point | null;
  measure: Measure;
  scales: Scales;
}) {
  const at = point && measured(point, measure);
  if (!point || at === null || point.score === null) return null;
  const x = scales.x(at);
  const y = scales.y(point.score);
  return (
    <g className="pareto-cross">
      <rect
        x={MARGIN.left}
        y={MARGIN.top}
        width={Math.max(0, x - MARGIN.left)}
        height={Math.max(0, y - MARGIN.top)}
      />
      <line x1={x} x2={x} y1={MARGIN.top} y2={scales.bottom} />
      <line x1={MARGIN.left} x2={scales.width - MARGIN.right} y1={y} y2={y} />
      {x - MARGIN.left > 150 && y - MARGIN.top > 40 && (
        <text x={MARGIN.left + 10} y={MARGIN.top + 18}>
          better and cheaper
        </text>
      )}
    </g>
  );
}

function FrontLine({
  members,
  measure,
  scales,
}: {
  members: readonly Point[];
  measure: Measure;
  scales: Scales;
}) {
  const path = line<[number, number]>(
    ([x]) => scales.x(x),
    ([, y]) => scales.y(y),
  ).curve(curveStepAfter)(frontLine(members, measure, scales.x.domain()[1] ?? 0));
  return (
    <>
      {path && <path className="pareto-front" d={path} data-front={members.length} />}
      {members.map((point) => (
        <circle
          key={point.experiment_id}
          className="pareto-member"
          cx={scales.x(measured(point, measure) ?? 0)}
          cy={scales.y(point.score ?? 0)}
          r={8}
        />
      ))}
    </>
  );
}

/** The front first, then the others by score. */
function FrontTable({
  runId,
  marks,
  members,
  measure,
  baseline,
  set,
}: {
  runId: string;
  marks: readonly Mark[];
  members: readonly Point[];
  measure: Measure;
  baseline: Point | null;
  set: PointSet;
}) {
  const rows = useMemo(() => {
    const first = new Set(members);
    const rest = marks
      .map((mark) => mark.point)
      .filter((point) => !first.has(point))
      .sort((one, other) => (other.score ?? 0) - (one.score ?? 0));
    return [
      ...members.map((point) => ({ point, on: true })),
      ...rest.map((point) => ({ point, on: false })),
    ];
  }, [marks, members]);
  const columns: TableColumn<(typeof rows)[number]>[] = [
    {
      name: 'Candidate',
      cell: ({ point }) => (
        <Link href={`/runs/${runId}/candidates/${point.candidate_id}`}>
          {point.kind === 'baseline' ? 'Baseline' : `#${point.number}`}
        </Link>
      ),
    },
    {
      name: 'Place',
      cell: ({ point, on }) => (
        <span className="row">
          {on ? <span className="badge good">front</span> : <span className="muted">behind</span>}
          {point.candidate_id === set.best && <span className="badge accent">★ best</span>}
        </span>
      ),
    },
    ...(choosesModel(set.points)
      ? [
          {
            name: 'Model',
            cell: ({ point }: (typeof rows)[number]) => (
              <span className="mono small">{point.model ?? '–'}</span>
            ),
          },
        ]
      : []),
    { name: 'Score', number: true, cell: ({ point }) => score(point.score) },
    {
      name: '95% interval',
      number: true,
      cell: ({ point }) => interval(point.ci_low, point.ci_high) || '–',
    },
    {
      name: 'Against baseline',
      number: true,
      cell: ({ point }) => (
        <Change
          value={
            baseline?.score == null || point.score === null ? null : point.score - baseline.score
          }
        />
      ),
    },
    {
      name: `${MEASURES.find((one) => one.value === measure)?.label ?? ''} per item`,
      number: true,
      cell: ({ point }) => measureText(measure, measured(point, measure) ?? 0),
    },
  ];
  return (
    <PagedTable
      caption={`Score against ${measure}`}
      rows={rows}
      columns={columns}
      keyOf={({ point }) => point.experiment_id}
    />
  );
}
