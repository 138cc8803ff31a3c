import { useState } from 'react';
import { useShortcuts } from '@/lib/keys';
import { hasEnded } from '../run/stages';
import { Picture } from '../picture/Picture';
import type { Commit, ImageModels, ImageRun } from '../types';
import { VariantCard } from './VariantCard';

/** The variants by rank; before there are ranks, as they were planned. */
export function Leaderboard({
  run,
  models,
  anchor,
  onUse,
}: {
  run: ImageRun;
  models: ImageModels | undefined;
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
        <span className="small muted">{standing(run)}</span>
      </div>
      <p className="small muted" data-part="makers">
        {`Drawn by ${labelOf(models?.image_models, run.image_model)}, judged by ${labelOf(models?.judge_models, run.judge_model)}.`}
      </p>
      {anchor && (
        <div className="leaderboard-anchor small" data-part="anchor">
          <span className="anchor-picture">
            <Picture url={anchor.thumbnail_url} alt={anchor.prompt} />
          </span>
          <span>
            <strong>Anchor</strong> <span className="muted">The variants are edits of it.</span>
          </span>
        </div>
      )}
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

/** What became of the ranking, in words. */
export function standing(run: ImageRun): string {
  const ranked = run.leaderboard.length;
  if (ranked > 0) return `${ranked} of ${run.n_variants} ranked · ← → moves`;
  if (hasEnded(run)) return `Nothing was ranked: the run ${endOf(run)}`;
  return 'Ranked once all are judged';
}

function endOf({ status }: ImageRun): string {
  return status === 'failed' ? 'failed' : status === 'cancelled' ? 'was cancelled' : 'ended';
}

/** What a model is, for people; one that nobody lists has its name. */
export function labelOf(
  options: readonly { name: string | null; label: string }[] | undefined,
  name: string,
): string {
  return options?.find((one) => one.name === name)?.label ?? name;
}

/** Where the arrow keys lead among cards: from none to the first, and never beyond the ends. */
export function stepOver(count: number, at: number, by: 1 | -1): number {
  if (count === 0) return -1;
  return at < 0 ? 0 : Math.max(0, Math.min(count - 1, at + by));
}
