import { useMemo } from 'react';
import { hasChanges, wordDiff } from '@/lib/words';

/** Two texts, word by word. Both are text: nothing in them is markup. */
export function Diff({ before, after }: { before: string; after: string }) {
  const pieces = useMemo(() => wordDiff(before, after), [before, after]);
  if (pieces.length === 0) return <div className="diff muted">(empty)</div>;
  return (
    <div className="diff" data-changed={hasChanges(pieces)}>
      {pieces.map((piece, index) =>
        piece.kind === 'added' ? (
          <ins key={index}>{piece.text}</ins>
        ) : piece.kind === 'removed' ? (
          <del key={index}>{piece.text}</del>
        ) : (
          <span key={index}>{piece.text}</span>
        ),
      )}
    </div>
  );
}
