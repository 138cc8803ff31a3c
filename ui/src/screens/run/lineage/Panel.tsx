import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ChartFrame } from '@/components/ChartFrame';
import { Empty } from '@/components/States';
import { useAddress } from '@/lib/address';
import { count, counted, score } from '@/lib/format';
import { counts, type PointSet, type PanelProps } from '../points';
import {
  ancestry,
  bestNumber,
  familyOf,
  fold,
  lineageMissing,
  open,
  shownOf,
  worthShowing,
  type Folding,
} from './family';
import { LineageGraph } from './Graph';
import { LineageSide } from './Side';
import { LineageTable } from './Table';
import { Toggle } from '../score/Legend';
import { sentence } from '../score/words';
import '../score/score.css';
import './lineage.css';

const NOTHING: Folding = { opened: new Map(), folded: new Set() };

/** Which candidate came from which. */
export default function LineagePanel({ runId, set, running }: PanelProps) {
  const address = useAddress();
  const [, go] = useLocation();
  const [folding, setFolding] = useState(NOTHING);
  const mini = address.get('mini') === '1';
  const current = address.get('node') || null;
  const family = useMemo(() => familyOf(set, mini), [set, mini]);
  const best = useMemo(() => bestNumber(set), [set]);
  const path = useMemo(() => ancestry(family, best), [family, best]);
  const keep = useMemo(() => worthShowing(family, set), [family, set]);
  const shown = useMemo(() => shownOf(family, keep, folding, path), [family, keep, folding, path]);
  const range = useMemo(() => scoreRange(set), [set]);
  const hasMini = useMemo(() => set.points.some((point) => point.kind === 'mini-batch'), [set]);
  const acts = useMemo(
    () => ({
      open: (number: number | null) => setFolding((before) => open(before, number)),
      fold: (number: number) => setFolding((before) => fold(before, number)),
    }),
    [],
  );
  const point = current === null ? undefined : set.byNumber.get(Number(current));
  const baseline = set.points.find((one) => one.kind === 'baseline')?.score ?? null;
  const openCandidate = (number: number) => {
    const found = set.byNumber.get(number);
    if (found) go(`/runs/${runId}/candidates/${found.candidate_id}`);
  };
  return (
    <ChartFrame
      title="Lineage"
      controls={
        hasMini && (
          <Toggle
            label="Only on mini-batches too"
            checked={mini}
            onChange={(on) => address.set({ mini: on ? '1' : null })}
          />
        )
      }
      chart={
        set.points.length === 0 ? (
          <Empty title={running ? 'No candidate yet' : 'No candidate was made'}>
            {running && 'The graph grows by itself as candidates are proposed.'}
          </Empty>
        ) : lineageMissing(set) ? (
          <NotSent runId={runId} />
        ) : (
          <div data-panel="lineage">
            <div className="lineage-area">
              <LineageGraph
                {...{ shown, set, path, range, best, current, acts }}
                label={`Lineage of ${counted(family.points.size, 'candidate')}. Arrow keys move, Enter opens, space folds, f fits, b goes to the best.`}
                onCurrent={(id) => address.set({ node: id })}
                onOpen={openCandidate}
              />
              {point && (
                <LineageSide
                  runId={runId}
                  set={set}
                  point={point}
                  baseline={baseline}
                  offspring={family.children.get(point.number)?.length ?? 0}
                  onClose={() => address.set({ node: null })}
                />
              )}
            </div>
            <div className="sr-only" aria-live="polite">
              {point
                ? sentence(point, baseline, set.best)
                : current?.startsWith('more-')
                  ? 'Hidden candidates; Enter shows more'
                  : ''}
            </div>
            <Key
              range={range}
              shown={shown.nodes.filter((node) => node.kind === 'candidate').length}
              all={family.points.size}
            />
          </div>
        )
      }
      table={<LineageTable runId={runId} set={set} family={family} path={path} />}
    />
  );
}

function scoreRange(set: PointSet): readonly [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const point of set.points)
    if (counts(point)) {
      low = Math.min(low, point.score);
      high = Math.max(high, point.score);
    }
  return low <= high ? [low, high] : [0, 1];
}

function NotSent({ runId }: { runId: string }) {
  return (
    <Empty title="Lineage not sent">
      <p>
        The client that ran this search told nothing about which candidate came from which, so there
        is nothing to draw. Send <code>parent_candidate_ids</code> with each candidate to see it
        here.
      </p>
      <Link className="btn small" href={`/runs/${runId}?tab=trials`}>
        See the trials
      </Link>
    </Empty>
  );
}

function Key({
  range,
  shown,
  all,
}: {
  range: readonly [number, number];
  shown: number;
  all: number;
}) {
  return (
    <div className="lineage-key row small muted">
      <span className="row">
        Score {score(range[0])}
        <span className="lineage-scale" aria-hidden="true" />
        {score(range[1])}
      </span>
      <span className="row">
        <span className="lineage-lit" aria-hidden="true" />
        Way to the best
      </span>
      <span className="row">
        <span className="lineage-merged" aria-hidden="true" />
        Merged in
      </span>
      <span className="row">
        <span className="lineage-swatch none key" aria-hidden="true" />
        No score
      </span>
      <span className="grow" />
      {shown < all && (
        <span>
          {count(shown)} of {counted(all, 'candidate')} in sight: best path, front, newest; +n shows
          more
        </span>
      )}
    </div>
  );
}
