import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { createContext, memo, use } from 'react';
import { count, score } from '@/lib/format';
import type { Point } from '../points';

export type CandidateNode = Node<
  {
    point: Point;
    share: number | null;
    best: boolean;
    lit: boolean;
    folds: boolean;
    current: boolean;
  },
  'candidate'
>;
export type BundleNode = Node<
  { number: number | null; hidden: number; current: boolean },
  'bundle'
>;
export type GraphNode = CandidateNode | BundleNode;

export interface Acts {
  open(number: number | null): void;
  fold(number: number): void;
}

export const ActsContext = createContext<Acts>({ open: () => {}, fold: () => {} });

/** A colour between the two ends of the scale. */
export function scaleColour(share: number): string {
  return `color-mix(in oklab, var(--scale-high) ${Math.round(share * 100)}%, var(--scale-low))`;
}

const SIGNS: Record<string, string> = {
  failed: '✕',
  timeout: '✕',
  pruned: '▽',
  cancelled: '□',
  running: '○',
  pending: '○',
};

const Candidate = memo(function Candidate({ data }: NodeProps<CandidateNode>) {
  const { point, share, best, lit, folds, current } = data;
  const { fold } = use(ActsContext);
  const sign = SIGNS[point.status];
  return (
    <div
      className="lineage-node"
      data-lit={lit}
      data-current={current}
      data-number={point.number}
      title={`${point.status}${point.rationale ? `: ${point.rationale}` : ''}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span
        className={`lineage-swatch ${share === null ? 'none' : ''}`}
        style={share === null ? undefined : { background: scaleColour(share) }}
        aria-hidden="true"
      />
      <span className="grow clip">
        <strong>{point.number === 0 ? 'Baseline' : `#${point.number}`}</strong>
        {best && <span className="lineage-star"> ★</span>}
        <br />
        <span className="small muted">
          {sign && <span aria-hidden="true">{sign} </span>}
          {point.score === null ? point.status : score(point.score)}
          {point.kind === 'mini-batch' && ' mini-batch'}
        </span>
      </span>
      {folds && (
        <button
          type="button"
          className="lineage-fold nodrag nopan"
          tabIndex={-1}
          aria-label={`Fold what came from ${point.number}`}
          onClick={(event) => {
            event.stopPropagation();
            fold(point.number);
          }}
        >
          −
        </button>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

const Bundle = memo(function Bundle({ data }: NodeProps<BundleNode>) {
  const { open } = use(ActsContext);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className="lineage-bundle nodrag nopan"
        data-current={data.current}
        data-bundle={data.number ?? 'top'}
        tabIndex={-1}
        aria-label={`Show more of ${data.hidden} hidden candidates`}
        onClick={(event) => {
          event.stopPropagation();
          open(data.number);
        }}
      >
        +{count(data.hidden)}
      </button>
    </>
  );
});

export const NODE_TYPES = { candidate: Candidate, bundle: Bundle };
