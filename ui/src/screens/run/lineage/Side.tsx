import { Link } from 'wouter';
import { Change } from '@/components/Numbers';
import type { Point, PointSet } from '../points';
import { PointCard } from '../score/TrialCard';

/** The chosen candidate, beside the graph. */
export function LineageSide({
  runId,
  set,
  point,
  baseline,
  offspring,
  onClose,
}: {
  runId: string;
  set: PointSet;
  point: Point;
  baseline: number | null;
  offspring: number;
  onClose(): void;
}) {
  return (
    <aside className="lineage-side" aria-label={`Candidate ${point.number}`}>
      <button
        type="button"
        className="btn ghost small lineage-close"
        onClick={onClose}
        aria-label="Close"
      >
        ✕
      </button>
      <PointCard
        point={point}
        baseline={baseline}
        best={set.best}
        foot={
          <>
            <dl className="kv small">
              {point.parents.map((number) => {
                const parent = set.byNumber.get(number);
                const known =
                  point.score !== null && parent?.score != null && parent.kind !== 'mini-batch';
                return (
                  <div key={number} className="score-fact">
                    <dt>Change to {number === 0 ? 'baseline' : `#${number}`}</dt>
                    <dd>
                      <Change
                        value={
                          known && point.kind !== 'mini-batch'
                            ? (point.score ?? 0) - (parent.score ?? 0)
                            : null
                        }
                      />
                    </dd>
                  </div>
                );
              })}
              <div className="score-fact">
                <dt>Children</dt>
                <dd>{offspring}</dd>
              </div>
            </dl>
            <Link
              className="btn small primary"
              href={`/runs/${runId}/candidates/${point.candidate_id}`}
            >
              Open the candidate
            </Link>
          </>
        }
      />
    </aside>
  );
}
