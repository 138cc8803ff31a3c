import { diffWordsWithSpace } from 'diff';

export interface Piece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Beyond this many characters a word diff would hold the page; lines do. */
const LONGEST = 60_000;

/** What changed from one text to the other, word by word. */
export function wordDiff(before: string, after: string): Piece[] {
  if (before === after) return after === '' ? [] : [{ kind: 'same', text: after }];
  if (before.length + after.length > LONGEST)
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ];
  return diffWordsWithSpace(before, after).map((part) => ({
    kind: part.added ? 'added' : part.removed ? 'removed' : 'same',
    text: part.value,
  }));
}

export function hasChanges(pieces: readonly Piece[]): boolean {
  return pieces.some((piece) => piece.kind !== 'same');
}
