import { useState } from 'react';
import { Link } from 'wouter';
import { change, milliseconds, percent } from '@/lib/format';
import { BeforeAfterDialog } from '../picture/BeforeAfter';
import { Picture } from '../picture/Picture';
import type { Commit, Rubric, Variant } from '../types';
import { ZoomDialog } from '../picture/ZoomDialog';
import { partOf, RUBRIC } from '../rubric';

const WORDS: Record<string, string> = {
  planned: 'Planned',
  generated: 'Waits for the judge',
  generation_failed: 'No picture could be made',
  evaluated: 'Judged',
  evaluated_degraded: 'Judged by a neutral rubric',
  evaluation_skipped: 'Not judged: no picture',
};

/** One variant: its picture, its place, and why it has it. */
export function VariantCard({
  variant,
  anchor,
  project,
  current,
  onUse,
}: {
  variant: Variant;
  anchor: Commit | undefined;
  project: string;
  current: boolean;
  onUse: (prompt: string) => void;
}) {
  const [shown, setShown] = useState<'zoom' | 'slider' | null>(null);
  const { rubric, rank } = variant;
  const name = `Variant ${variant.variant_id}`;
  return (
    <article
      className="card variant"
      tabIndex={0}
      aria-label={rank === null ? name : `Rank ${rank}: ${name}`}
      data-variant={variant.variant_id}
      data-rank={rank ?? undefined}
      data-current={current}
    >
      <div className="variant-picture">
        {variant.image_url ? (
          <button
            type="button"
            className="picture-button"
            aria-label={`Enlarge ${name}`}
            onClick={() => setShown('zoom')}
          >
            <Picture url={variant.image_url} alt={variant.variant_prompt} />
          </button>
        ) : variant.status === 'planned' ? (
          <span className="picture picture-wait" role="img" aria-label="Not made yet" />
        ) : (
          <Picture url={null} alt="" missing="✕ No picture" />
        )}
        {rank !== null && (
          <span className="variant-rank" data-first={rank === 1}>
            {rank === 1 ? '★ 1' : rank}
          </span>
        )}
      </div>
      <div className="variant-text">
        <div className="row between">
          <span className="stack score-stack">
            <span className="small muted">Score</span>
            <strong className="variant-score" data-score={variant.composite_score}>
              {variant.composite_score === null ? '–' : variant.composite_score.toFixed(4)}
            </strong>
          </span>
          <span className="stack score-stack end">
            <span className="small muted">Confidence</span>
            <span>{percent(rubric?.confidence)}</span>
          </span>
        </div>
        {variant.pairwise && <Pairs pairs={variant.pairwise} />}
        {rubric ? (
          <RubricBars rubric={rubric} />
        ) : (
          <span className="small muted">{WORDS[variant.status] ?? variant.status}</span>
        )}
        {variant.status === 'evaluated_degraded' && (
          <span className="badge warn wraps">neutral rubric: the judge failed</span>
        )}
        {variant.not_drawn.length > 0 && (
          <p className="small" data-part="not-drawn">
            <strong>Not drawn:</strong> {variant.not_drawn.join(', ')}
          </p>
        )}
        {rubric && <Tags rubric={rubric} />}
        {rubric?.rationale && <p className="small variant-why">{rubric.rationale}</p>}
        {variant.error && (
          <p className="small bad">
            {variant.error.message} <code>{variant.error.code}</code>
          </p>
        )}
        <p className="variant-prompt small" title={variant.variant_prompt}>
          {variant.variant_prompt}
        </p>
        <div className="tags variant-foot">
          {variant.mutation_tags.map((tag) => (
            <span key={tag} className="badge">
              {tag}
            </span>
          ))}
        </div>
        <div className="row between small muted">
          <span title="Time to draw it, and to judge it">
            {variant.generation_latency_ms !== null && milliseconds(variant.generation_latency_ms)}
            {variant.judge_latency_ms !== null && ` + ${milliseconds(variant.judge_latency_ms)}`}
          </span>
          {variant.commit_id && (
            <Link href={`/workbench/${encodeURIComponent(project)}?commit=${variant.commit_id}`}>
              In the history
            </Link>
          )}
        </div>
        <div className="row variant-actions">
          <button type="button" className="btn small" onClick={() => onUse(variant.variant_prompt)}>
            Use as prompt
          </button>
          {anchor?.image_url && variant.image_url && (
            <button type="button" className="btn small" onClick={() => setShown('slider')}>
              Before / after
            </button>
          )}
        </div>
      </div>
      {shown === 'zoom' && (
        <ZoomDialog
          title={rank === null ? name : `${name}, rank ${rank}`}
          url={variant.image_url}
          alt={variant.variant_prompt}
          onClose={() => setShown(null)}
        />
      )}
      {shown === 'slider' && (
        <BeforeAfterDialog
          before={{ url: anchor?.image_url ?? null, label: 'the anchor' }}
          after={{ url: variant.image_url, label: variant.variant_id }}
          onClose={() => setShown(null)}
        />
      )}
    </article>
  );
}

/** How it stood against the others, each asked in both orders. */
function Pairs({ pairs }: { pairs: NonNullable<Variant['pairwise']> }) {
  const interval = pairs.interval?.map((end) => percent(end)).join(' to ');
  return (
    <p className="small" data-part="pairs">
      {pairs.win_rate !== null && (
        <span title={`95% interval: ${interval}`}>
          <strong>Win rate {percent(pairs.win_rate)}</strong>{' '}
        </span>
      )}
      {pairs.preferences.map(({ other, value, reason }) => (
        <span key={other} className="badge" title={reason}>
          {value === null
            ? 'no verdict on'
            : value > 0.5
              ? 'beats'
              : value < 0.5
                ? 'loses to'
                : 'ties'}{' '}
          {other}
        </span>
      ))}
    </p>
  );
}

function Tags({ rubric }: { rubric: NonNullable<Variant['rubric']> }) {
  if (rubric.strength_tags.length + rubric.failure_tags.length === 0) return null;
  return (
    <ul className="tags" aria-label="What the judge marks">
      {rubric.strength_tags.map((tag) => (
        <li key={`+${tag}`} className="badge good">
          <span aria-hidden="true">+</span> {tag}
        </li>
      ))}
      {rubric.failure_tags.map((tag) => (
        <li key={`-${tag}`} className="badge bad">
          <span aria-hidden="true">−</span> {tag}
        </li>
      ))}
    </ul>
  );
}

/** The five numbers of a verdict, and what each adds to the score. */
function RubricBars({ rubric }: { rubric: Rubric }) {
  return (
    <dl className="rubric">
      {RUBRIC.map(({ name, label, short, weight }) => (
        <div key={name} data-rubric={name}>
          <dt title={label}>{short}</dt>
          {rubric.not_measured.includes(name) ? (
            <dd className="muted">not measured</dd>
          ) : (
            <dd>
              <span className="bar" aria-hidden="true">
                <span
                  style={{ width: `${rubric[name] * 100}%` }}
                  data-tone={weight < 0 ? 'against' : 'for'}
                />
              </span>
              <span className="num">{rubric[name].toFixed(2)}</span>
              <span
                className="num muted"
                title={`Weighs ${weight} in the score: ${change(partOf(rubric, name, weight), 4)}`}
              >
                {change(partOf(rubric, name, weight), 3)}
              </span>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
