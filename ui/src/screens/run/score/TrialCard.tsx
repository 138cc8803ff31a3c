import type { ReactNode } from 'react';
import { Change } from '@/components/Numbers';
import { Status } from '@/components/Status';
import { interval, score } from '@/lib/format';
import { isWaiting, type Point } from '../points';
import { facts, nameOf } from './words';

/** What a point is, in a small card. */
export function PointCard({
  point,
  baseline,
  best,
  foot,
}: {
  point: Point;
  baseline: number | null;
  best: string | null;
  foot?: ReactNode;
}) {
  const range = interval(point.ci_low, point.ci_high);
  return (
    <div className="stack tight">
      <div className="row between">
        <strong>{nameOf(point)}</strong>
        {point.candidate_id === best && point.kind !== 'mini-batch' ? (
          <span className="badge accent">★ best</span>
        ) : (
          <Status value={point.status} />
        )}
      </div>
      {point.score !== null ? (
        <div className="row">
          <span className="score-value">{score(point.score)}</span>
          {point.kind === 'trial' && baseline !== null && <Change value={point.score - baseline} />}
          {range && <span className="muted small nowrap">95% {range}</span>}
        </div>
      ) : (
        <span className="muted small">
          {isWaiting(point) ? 'No score yet; drawn at the height of its parent.' : 'No score.'}
        </span>
      )}
      <dl className="kv small">
        {point.parents.length > 0 && (
          <div className="score-fact">
            <dt>From</dt>
            <dd>
              {point.parents
                .map((parent) => (parent === 0 ? 'baseline' : `#${parent}`))
                .join(' and ')}
            </dd>
          </div>
        )}
        {point.model && (
          <div className="score-fact">
            <dt>Model</dt>
            <dd>{point.model}</dd>
          </div>
        )}
        {facts(point).map(([name, value]) => (
          <div key={name} className="score-fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {point.error && <p className="small bad score-clamp">{point.error}</p>}
      {point.rationale && <p className="small muted score-clamp">{point.rationale}</p>}
      {foot}
    </div>
  );
}
