import { useState } from 'react';
import { useShortcuts } from '@/lib/keys';
import { hasEnded } from '../run/stages';
import type { Commit, ImageRun } from '../types';
import { VariantCard } from './VariantCard';

/** The variants by rank; before there are ranks, as they were planned. */
export function Leaderboard({
  run,
  anchor,
  onUse,
}: {
  run: ImageRun;
  anchor: Commit | undefined;
  onUse: (prompt: string) => void;
}) {
  const ranked = run.leaderboard;
  const rest = run.variants.filter((variant) => variant.rank === null);
  const shown = [...ranked, ...rest];
  const [current, setCurrent] = useState(-1);
  const move = (by: 1 | -1) => {
    const next = stepOver(shown.length, current, by);
    setCurrent(next);
    const id = shown[next]?.variant_id;
    document.querySelector<HTMLElement>(`[data-variant="${CSS.escape(id ?? '')}"]`)?.focus();
  };
  useShortcuts([
    { keys: 'ArrowRight', says: 'Next card of the leaderboard', act: () => move(1) },
    { keys: 'ArrowLeft', says: 'Card before', act: () => move(-1) },
  ]);
  if (shown.length === 0) return null;
  return (
    <section className="stack" aria-label="Leaderboard">
      <div className="row between">
        <h2>Leaderboard</h2>
        <span className="small muted">
          {hasEnded(run) && ranked.length > 0
            ? `${ranked.length} of ${run.n_variants} ranked · ← → moves`
            : 'Ranked once all are judged'}
        </span>
      </div>
      <div className="leaderboard" data-top={run.top_k.join(' ')}>
        {shown.map((variant, index) => (
          <VariantCard
            key={variant.variant_id}
            variant={variant}
            anchor={anchor}
            project={run.project_id}
            current={index === current}
            onUse={onUse}
          />
        ))}
      </div>
    </section>
  );
}

/** Where the arrow keys lead among cards: from none to the first, and never beyond the ends. */
export function stepOver(count: number, at: number, by: 1 | -1): number {
  if (count === 0) return -1;
  return at < 0 ? 0 : Math.max(0, Math.min(count - 1, at + by));
}
