import type { Piece } from '@/lib/words';

export interface ShortPiece {
  kind: Piece['kind'] | 'left out';
  text: string;
}

const CONTEXT_LINES = 1;

/** The changes with a line around them; what stayed the same between them is left out. */
export function condensed(pieces: readonly Piece[]): ShortPiece[] {
  return pieces.flatMap((piece, index): ShortPiece[] => {
    if (piece.kind !== 'same') return [piece];
    const lines = piece.text.split('\n');
    const head = index === 0 ? 0 : CONTEXT_LINES + 1;
    const tail = index === pieces.length - 1 ? 0 : CONTEXT_LINES + 1;
    const between = lines.length - head - tail;
    // A gap of one line is as long as the words that would stand for it.
    if (between <= 1) return [piece];
    const kept = (part: readonly string[]): ShortPiece[] =>
      part.length === 0 ? [] : [{ kind: 'same', text: part.join('\n') }];
    return [
      ...kept(lines.slice(0, head)),
      { kind: 'left out', text: `${between} lines unchanged` },
      ...kept(lines.slice(lines.length - tail)),
    ];
  });
}
