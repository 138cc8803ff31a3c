import { diffWordsWithSpace } from 'diff';

export interface Piece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Beyond this many characters a word diff would hold the page; lines do. */
const LONGEST = 60_000;

/** Two texts with less in common are read one after the other, not word by word in turns. */
const ALIKE = 0.3;

/** What changed from one text to the other, word by word. */
export function wordDiff(before: string, after: string): Piece[] {
  if (before === after) return after === '' ? [] : [{ kind: 'same', text: after }];
  if (before.length + after.length > LONGEST)
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ];
  const pieces: Piece[] = diffWordsWithSpace(before, after).map((part) => ({
    kind: part.added ? 'added' : part.removed ? 'removed' : 'same',
    text: part.value,
  }));
  if (before === '' || after === '' || alike(pieces, before, after) >= ALIKE) return pieces;
  return [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
}

/** The share of the shorter text that stayed, spaces left out. */
function alike(pieces: readonly Piece[], before: string, after: string): number {
  const letters = (text: string) => text.replace(/\s+/g, '').length;
  const shorter = Math.min(letters(before), letters(after));
  const same = pieces.reduce((sum, one) => sum + (one.kind === 'same' ? letters(one.text) : 0), 0);
  return shorter === 0 ? 1 : same / shorter;
}

export function hasChanges(pieces: readonly Piece[]): boolean {
  return pieces.some((piece) => piece.kind !== 'same');
}
