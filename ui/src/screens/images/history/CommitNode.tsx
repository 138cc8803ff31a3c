import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { createContext, memo, use } from 'react';
import { score } from '@/lib/format';
import { roleOf } from './history';
import { Picture } from '../picture/Picture';
import type { Commit } from '../types';

export type CommitNode = Node<
  { commit: Commit; best: boolean; lit: boolean; current: boolean; marked: boolean },
  'commit'
>;

/** Opens the workbench from a commit. */
export const RunFromContext = createContext<(commit: string) => void>(() => {});

const Drawn = memo(function Drawn({ data }: NodeProps<CommitNode>) {
  const { commit, best, lit, current, marked } = data;
  const runFrom = use(RunFromContext);
  const failed = commit.status === 'failed';
  return (
    <div
      className="commit-node"
      data-commit={commit.commit_id}
      data-parent={commit.parent_commit_id ?? ''}
      data-status={commit.status}
      data-lit={lit}
      data-current={current}
      data-marked={marked}
      title={commit.error ?? commit.prompt}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="commit-picture">
        <Picture url={commit.thumbnail_url} alt={commit.prompt} missing="✕ failed" lazy />
      </span>
      <span className="commit-caption">
        <span className="clip">
          {best && <span className="lineage-star">★ </span>}
          <strong>{commit.score === null ? roleOf(commit) : score(commit.score)}</strong>
          {commit.score !== null && commit.variant_id && (
            <span className="muted"> {commit.variant_id}</span>
          )}
        </span>
        {!failed && (
          <button
            type="button"
            className="commit-run nodrag nopan"
            tabIndex={-1}
            title="Run eval from here"
            aria-label={`Run eval from ${roleOf(commit)}`}
            onClick={(event) => {
              event.stopPropagation();
              runFrom(commit.commit_id);
            }}
          >
            ▶
          </button>
        )}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

export const NODE_TYPES = { commit: Drawn };
