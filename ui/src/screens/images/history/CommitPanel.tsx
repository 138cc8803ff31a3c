import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answer } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { Failure } from '@/components/States';
import { Time } from '@/components/Time';
import { say } from '@/components/shell/Toasts';
import { count, counted, score, shortId } from '@/lib/format';
import { BeforeAfterDialog } from '../picture/BeforeAfter';
import { images } from '../client';
import { useLookAgain } from '../data';
import { roleOf, type History } from './history';
import { Picture } from '../picture/Picture';
import type { Commit } from '../types';
import { ZoomDialog } from '../picture/ZoomDialog';

type Shown = 'zoom' | 'slider' | 'delete' | null;

/** One commit beside the graph, and what can be done with it. */
export function CommitPanel({
  commit,
  history,
  onChoose,
  onCompare,
  onClose,
}: {
  commit: Commit;
  history: History;
  onChoose: (id: string) => void;
  onCompare: (id: string) => void;
  onClose: () => void;
}) {
  const [shown, setShown] = useState<Shown>(null);
  const base = `/workbench/${encodeURIComponent(commit.project_id)}`;
  const parent =
    commit.parent_commit_id === null ? undefined : history.commits.get(commit.parent_commit_id);
  const file = commit.images[0];
  const name = roleOf(commit);
  return (
    <aside className="lineage-side commit-panel" aria-label={`Commit: ${name}`}>
      <button
        type="button"
        className="btn ghost small lineage-close"
        onClick={onClose}
        aria-label="Close"
      >
        ✕
      </button>
      <div className="stack tight">
        <h3>{name}</h3>
        {commit.image_url ? (
          <button
            type="button"
            className="picture-button commit-large"
            aria-label="Enlarge the picture"
            onClick={() => setShown('zoom')}
          >
            <Picture url={commit.image_url} alt={commit.prompt} />
          </button>
        ) : (
          <div className="notice bad">
            <span className="small">{commit.error ?? 'No picture was made.'}</span>
          </div>
        )}
        <div className="row">
          {commit.can_be_parent && (
            <Link className="btn small primary" href={`${base}/eval?parent=${commit.commit_id}`}>
              Run eval
            </Link>
          )}
          {commit.image_url && (
            <button type="button" className="btn small" onClick={() => onCompare(commit.commit_id)}>
              Compare with…
            </button>
          )}
          {commit.image_url && parent?.image_url && (
            <>
              <Link
                className="btn small"
                href={`${base}/compare?left=${parent.commit_id}&right=${commit.commit_id}`}
              >
                Compare with its parent
              </Link>
              <button type="button" className="btn small" onClick={() => setShown('slider')}>
                Before / after
              </button>
            </>
          )}
          <button type="button" className="btn small danger" onClick={() => setShown('delete')}>
            Delete
          </button>
        </div>
        <p className="small commit-prompt">{commit.prompt}</p>
        <dl className="kv small">
          <dt>Score</dt>
          <dd>{score(commit.score)}</dd>
          <dt>Model</dt>
          <dd>{commit.model}</dd>
          {file && (
            <>
              <dt>Picture</dt>
              <dd>{`${file.width} × ${file.height}, ${count(Math.ceil(file.size / 1024))} kB`}</dd>
            </>
          )}
          <dt>Made from</dt>
          <dd>
            <MadeFrom
              commit={commit}
              parent={parent}
              truncated={history.truncated}
              onChoose={onChoose}
            />
          </dd>
          {commit.run_id && (
            <>
              <dt>Run</dt>
              <dd>
                <Link href={`${base}/eval?run=${commit.run_id}`}>{shortId(commit.run_id)}</Link>
              </dd>
            </>
          )}
          <dt>When</dt>
          <dd>
            <Time at={commit.created_at} />
          </dd>
        </dl>
      </div>
      {shown === 'zoom' && (
        <ZoomDialog
          title={name}
          url={commit.image_url}
          alt={commit.prompt}
          onClose={() => setShown(null)}
        />
      )}
      {shown === 'slider' && (
        <BeforeAfterDialog
          before={{ url: parent?.image_url ?? null, label: parent ? roleOf(parent) : '' }}
          after={{ url: commit.image_url, label: name }}
          onClose={() => setShown(null)}
        />
      )}
      {shown === 'delete' && (
        <DeleteDialog
          commit={commit}
          offspring={history.edges.filter((edge) => edge.from === commit.commit_id).length}
          onClose={() => setShown(null)}
          onDeleted={onClose}
        />
      )}
    </aside>
  );
}

function MadeFrom({
  commit,
  parent,
  truncated,
  onChoose,
}: {
  commit: Commit;
  parent: Commit | undefined;
  truncated: boolean;
  onChoose: (id: string) => void;
}) {
  if (commit.parent_commit_id === null) return <span className="muted">nothing before it</span>;
  if (!parent)
    return (
      <span className="muted">{truncated ? 'an older commit' : 'a commit that was deleted'}</span>
    );
  return (
    <button
      type="button"
      className="link-button"
      onClick={() => onChoose(parent.commit_id)}
    >{`${roleOf(parent)} ${shortId(parent.commit_id)}`}</button>
  );
}

function DeleteDialog({
  commit,
  offspring,
  onClose,
  onDeleted,
}: {
  commit: Commit;
  offspring: number;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const look = useLookAgain(commit.project_id);
  const remove = useMutation({
    mutationFn: () =>
      answer(
        images.DELETE('/commits/{commit_id}', {
          params: { path: { commit_id: commit.commit_id } },
        }),
      ),
    onSuccess: () => {
      look();
      say('The commit is deleted.');
      onDeleted();
    },
  });
  return (
    <Dialog
      title="Delete this commit?"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" data-autofocus onClick={onClose}>
            Keep it
          </button>
          <button
            type="button"
            className="btn danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate()}
          >
            {remove.isPending ? 'Deleting…' : 'Delete the commit'}
          </button>
        </>
      }
    >
      <p>
        It leaves the history for good; the file of its picture stays on the server’s disk.{' '}
        {offspring > 0 &&
          `${offspring === 1 ? 'One commit was' : `${counted(offspring, 'commit')} were`} made from it and will stay.`}
      </p>
      {remove.error && <Failure error={remove.error} />}
    </Dialog>
  );
}
