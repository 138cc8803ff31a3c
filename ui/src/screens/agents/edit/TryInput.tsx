import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { Field } from '@/components/form/Field';
import { Failure } from '@/components/States';
import type { AgentConfiguration } from '@/lib/configurations';
import { milliseconds, money, tokensInAndOut } from '@/lib/format';

/** Who answers: an agent that is there, or one that is only a draft. */
export type Subject =
  | { agent: string }
  | { model: string; labels?: string[]; output_schema?: Record<string, unknown> | null };

type Tried = Schemas['TryView'];

/** One input, run at once under what stands in the form; nothing is saved. */
export function TryInput({
  subject,
  configuration,
  fields,
  unusable,
}: {
  subject: Subject;
  configuration: AgentConfiguration;
  /** The input's columns. */
  fields: readonly string[];
  /** Why it cannot be tried yet. */
  unusable: string | null;
}) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const send = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/private/agents/try', {
          body: {
            ...subject,
            configuration,
            input: Object.fromEntries(fields.map((name) => [name, values[name] ?? ''])),
          } as Schemas['TryAgent'],
        }),
      ),
  });
  const empty = fields.every((name) => (values[name] ?? '').trim() === '');
  return (
    <section className="agents-try stack tight" aria-label="Try it">
      <h3>Try it on one input</h3>
      {fields.map((name) => (
        <Field key={name} label={`Input ${name}`}>
          {(given) => (
            <textarea
              {...given}
              className="textarea"
              rows={2}
              value={values[name] ?? ''}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <div className="row">
        <button
          type="button"
          className="btn"
          disabled={unusable !== null || empty || send.isPending}
          onClick={() => send.mutate()}
        >
          {send.isPending ? 'Asking…' : 'Try it'}
        </button>
        <span className="muted small">{unusable ?? 'One call; nothing is saved.'}</span>
      </div>
      {send.error && <Failure error={send.error} />}
      {send.data && <Answer tried={send.data} />}
    </section>
  );
}

function Answer({ tried }: { tried: Tried }) {
  return (
    <div
      className="stack tight"
      role="status"
      ref={(shown) => shown?.scrollIntoView({ block: 'nearest' })}
    >
      <pre className="agents-answer">{tried.text === '' ? '(an empty answer)' : tried.text}</pre>
      <span className="muted small">
        {tried.latency_ms !== null && `${milliseconds(tried.latency_ms)} · `}
        {tokensInAndOut(tried)} ·{' '}
        {tried.cached
          ? 'from the cache, nothing paid'
          : tried.cost_usd === null
            ? 'cost unknown'
            : money(tried.cost_usd)}
        {tried.finish_reason === 'length' && ' · cut off at the longest answer'}
      </span>
    </div>
  );
}
