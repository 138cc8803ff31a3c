import { useMemo } from 'react';
import {
  argumentsText,
  compareTranscripts,
  endedWords,
  type Call,
  type Entry,
  type Transcript,
} from '@/lib/transcripts';
import './trajectory.css';

const plural = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** What was said and called, step by step; steps that a scorer finds wrong stand out. */
export function TranscriptView({
  transcript,
  failing,
}: {
  transcript: Transcript;
  failing: ReadonlyMap<number, string>;
}) {
  const steps = transcript.entries.filter((one) => one.step > 0).length;
  const calls = transcript.entries.reduce((sum, one) => sum + one.calls.length, 0);
  return (
    <details className="configuration-part" open>
      <summary className="configuration-head">
        Transcript{' '}
        <span className="muted small">
          {plural(steps, 'step')}, {plural(calls, 'call')}
          {transcript.ended !== '' && ` · ended: ${endedWords(transcript.ended)}`}
        </span>
      </summary>
      <ol className="trajectory">
        {transcript.entries.map((entry, index) => (
          <Message key={index} entry={entry} wrong={failing.get(entry.step)} />
        ))}
      </ol>
    </details>
  );
}

/** Two trajectories of one item in one list: what only one of them has is marked. */
export function TranscriptDiff({ before, after }: { before: Transcript; after: Transcript }) {
  const changes = useMemo(() => compareTranscripts(before, after), [before, after]);
  const differing = changes.filter((one) => one.kind !== 'same').length;
  return (
    <details className="configuration-part" open>
      <summary className="configuration-head">
        Transcript, compared{' '}
        <span className="muted small">
          {differing === 0 ? 'the same' : `${plural(differing, 'message')} differ`}
        </span>
      </summary>
      <ol className="trajectory" aria-label="Differences of the trajectories">
        {changes.map(({ kind, entry }, index) => (
          <Message key={index} entry={entry} change={kind} />
        ))}
      </ol>
    </details>
  );
}

const MARKS = { added: 'only after', removed: 'only before' } as const;

function Message({
  entry,
  wrong,
  change = 'same',
}: {
  entry: Entry;
  wrong?: string | undefined;
  change?: 'same' | 'added' | 'removed';
}) {
  return (
    <li
      className="trajectory-message"
      data-role={entry.role.split(' ', 1)[0]}
      data-step={entry.step || undefined}
      data-change={change}
      data-wrong={wrong !== undefined}
    >
      <div className="row tight trajectory-head">
        <strong>{entry.step > 0 ? `Step ${entry.step}` : entry.role}</strong>
        {entry.agent !== '' && <span className="badge">{entry.agent}</span>}
        {change !== 'same' && (
          <span className={`badge ${change === 'added' ? 'good' : 'bad'}`}>{MARKS[change]}</span>
        )}
        {wrong !== undefined && <span className="badge bad">failing step</span>}
      </div>
      {entry.text !== '' && <pre>{entry.text}</pre>}
      {entry.calls.map((call, index) => (
        <CallView key={index} call={call} />
      ))}
      {wrong !== undefined && <p className="small bad">{wrong}</p>}
    </li>
  );
}

function CallView({ call }: { call: Call }) {
  return (
    <div className="trajectory-call">
      <code>
        <strong>{call.name}</strong>({argumentsText(call.arguments)})
      </code>
      {call.result === null ? (
        <span className="muted small">nothing came back</span>
      ) : (
        <pre className={call.failed ? 'bad' : ''}>
          {call.failed && 'error: '}
          {call.result === '' ? '(empty)' : call.result}
        </pre>
      )}
    </div>
  );
}
