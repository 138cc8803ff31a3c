import { useId, type ReactNode } from 'react';
import {
  changedCount,
  compareConfigurations,
  type AgentConfiguration,
  type ComparedPart,
  type PartChange,
} from '@/lib/configurations';
import { Diff } from '../Diff';
import './configuration.css';

const SAYS: Record<PartChange, string> = {
  same: 'unchanged',
  changed: 'changed',
  added: 'added',
  removed: 'removed',
};
const TONES: Record<PartChange, string> = {
  same: '',
  changed: 'info',
  added: 'good',
  removed: 'bad',
};

/** Two configurations, part by part; what stayed the same is folded. */
export function ConfigurationDiff({
  before,
  after,
  level = 3,
  note,
}: {
  before: AgentConfiguration;
  after: AgentConfiguration;
  /** Of the headings, so that they follow the page's own. */
  level?: 3 | 4;
  /** Something to say beside a section's name, such as its tokens. */
  note?: (path: string) => ReactNode;
}) {
  const changes = compareConfigurations(before, after);
  return (
    <div className="stack">
      {changedCount(changes) === 0 && (
        <p className="muted">Both are the same: no section, parameter or example differs.</p>
      )}
      <Parts title="Sections" parts={changes.sections} level={level} note={note} />
      <Parts title="Parameters" parts={changes.parameters} level={level} inline />
      <Parts title="Examples" parts={changes.examples} level={level} />
    </div>
  );
}

function Parts({
  title,
  parts,
  level,
  inline = false,
  note,
}: {
  title: string;
  parts: readonly ComparedPart[];
  level: 3 | 4;
  inline?: boolean;
  note?: (path: string) => ReactNode;
}) {
  const heading = useId();
  if (parts.length === 0) return null;
  const Heading = `h${level}` as const;
  const changed = parts.filter((part) => part.change !== 'same');
  const same = parts.filter((part) => part.change === 'same');
  return (
    <section className="stack tight" aria-labelledby={heading}>
      <div className="row">
        <Heading id={heading}>{title}</Heading>
        <span className="muted small">
          {changed.length === 0
            ? `${parts.length} unchanged`
            : `${changed.length} of ${parts.length} changed`}
        </span>
      </div>
      {changed.map((part) =>
        inline ? (
          <InlinePart key={part.name} part={part} />
        ) : (
          <ChangedPart key={part.name} part={part} note={note?.(part.name)} />
        ),
      )}
      {inline
        ? same.length > 0 && <SameParameters parts={same} />
        : same.map((part) => <SamePart key={part.name} part={part} note={note?.(part.name)} />)}
    </section>
  );
}

function Mark({ change }: { change: PartChange }) {
  return <span className={`badge ${TONES[change]}`}>{SAYS[change]}</span>;
}

function ChangedPart({ part, note }: { part: ComparedPart; note?: ReactNode }) {
  return (
    <div className="configuration-part" data-part={part.name} data-change={part.change}>
      <div className="configuration-head">
        <code>{part.name}</code>
        <Mark change={part.change} />
        {note}
      </div>
      <Diff before={part.before ?? ''} after={part.after ?? ''} />
    </div>
  );
}

function SamePart({ part, note }: { part: ComparedPart; note?: ReactNode }) {
  return (
    <details className="configuration-part" data-part={part.name} data-change="same">
      <summary className="configuration-head">
        <code>{part.name}</code>
        <Mark change="same" />
        {note}
      </summary>
      <Diff before={part.after ?? ''} after={part.after ?? ''} />
    </details>
  );
}

/** A value with its old one beside it: most parameters are a number or a word. */
function InlinePart({ part }: { part: ComparedPart }) {
  return (
    <div className="configuration-value" data-part={part.name} data-change={part.change}>
      <code>{part.name}</code>
      <span className="configuration-values">
        {part.before === null ? <span className="muted">not set</span> : <del>{part.before}</del>}
        <span aria-label="becomes"> → </span>
        {part.after === null ? <span className="muted">not set</span> : <ins>{part.after}</ins>}
      </span>
    </div>
  );
}

function SameParameters({ parts }: { parts: readonly ComparedPart[] }) {
  return (
    <details className="configuration-part">
      <summary className="configuration-head">
        <span>{parts.length === 1 ? '1 unchanged parameter' : `${parts.length} unchanged`}</span>
      </summary>
      <dl className="kv configuration-kv">
        {parts.map((part) => (
          <div key={part.name} className="configuration-pair">
            <dt>
              <code>{part.name}</code>
            </dt>
            <dd className="mono">{part.after}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
