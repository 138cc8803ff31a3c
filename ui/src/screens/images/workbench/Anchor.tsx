import { shortId } from '@/lib/format';
import { useCommit } from '../data';
import { Picture } from '../picture/Picture';

/** The commit that the next run starts from. */
export function Anchor({ id, onDrop }: { id: string | null; onDrop: () => void }) {
  const commit = useCommit(id);
  if (id === null)
    return (
      <p className="small muted" data-anchor="">
        A first picture is drawn from the prompt, and the variants are made from it.
      </p>
    );
  return (
    <div className="anchor" data-anchor={id}>
      <span className="anchor-picture">
        <Picture
          url={commit.data?.thumbnail_url}
          alt={commit.data?.prompt ?? 'The picture to start from'}
          missing="…"
        />
      </span>
      <div className="stack tight grow">
        <span>
          <strong>Starts from</strong> <code>{shortId(id)}</code>
        </span>
        <span className="small muted anchor-prompt">
          {commit.error ? commit.error.message : commit.data?.prompt}
        </span>
      </div>
      <button type="button" className="btn ghost small" onClick={onDrop} aria-label="Start afresh">
        ✕
      </button>
    </div>
  );
}
