import { useShortcuts } from '@/lib/keys';
import type { Suggestions as Prompts } from '../types';

export const SUGGESTIONS: readonly {
  name: keyof Prompts;
  key: string;
  label: string;
  help: string;
}[] = [
  { name: 'conservative', key: '1', label: 'Conservative', help: 'Keeps what won.' },
  { name: 'balanced', key: '2', label: 'Balanced', help: 'What won, with its weak side mended.' },
  {
    name: 'aggressive',
    key: '3',
    label: 'Aggressive',
    help: 'The same subject, quite another way.',
  },
];

/** Three prompts to go on with. */
export function Suggestions({
  prompts,
  busy,
  onUse,
  onRun,
}: {
  prompts: Prompts;
  busy: boolean;
  onUse: (prompt: string) => void;
  onRun: (prompt: string) => void;
}) {
  useShortcuts(
    SUGGESTIONS.map(({ name, key, label }) => ({
      keys: key,
      says: `${label} suggestion as prompt`,
      act: () => onUse(prompts[name]),
    })),
  );
  return (
    <section className="stack" aria-label="Suggestions">
      <h2>Suggestions</h2>
      <div className="suggestions">
        {SUGGESTIONS.map(({ name, key, label, help }) => (
          <article
            key={name}
            className="card suggestion"
            data-suggestion={name}
            aria-label={`${label} suggestion`}
          >
            <div className="row between">
              <h3>{label}</h3>
              <kbd className="kbd">{key}</kbd>
            </div>
            <span className="small muted">{help}</span>
            <p className="suggestion-prompt">{prompts[name]}</p>
            <div className="row">
              <button type="button" className="btn small" onClick={() => onUse(prompts[name])}>
                Use as prompt
              </button>
              <button
                type="button"
                className="btn small primary"
                disabled={busy}
                onClick={() => onRun(prompts[name])}
              >
                Run now
              </button>
            </div>
          </article>
        ))}
      </div>
    </section>
  );
}
