import { useState } from 'react';
import { Field } from '@/components/form/Field';
import { FieldValue } from '@/components/trajectory/FieldValue';
import type { Task, Value } from './labelling';

const SHOWN: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→' };

/** What is labelled: the fields, the output or two beside each other, the values, and a comment. */
export function TaskCard({
  task,
  values,
  keyOf,
  onGive,
  onComment,
}: {
  task: Task;
  values: readonly Value[];
  keyOf: (value: Value) => string;
  onGive: (value: Value) => void;
  onComment: (text: string) => void;
}) {
  const [text, setText] = useState(task.comment);
  const sides = task.left !== null && task.right !== null;
  return (
    <section className="card labels-task" aria-label="Item" data-item={task.item_id}>
      <div className="card-body stack">
        {Object.entries(task.fields).map(([name, value]) => (
          <div key={name} className="field">
            <span className="label">{name}</span>
            <div className="labels-value">
              <FieldValue name={name} value={value} />
            </div>
          </div>
        ))}
        {task.output !== null && <Output title="Output" text={task.output} />}
        {sides && (
          <div className="two">
            <Output title="Left" text={task.left ?? ''} />
            <Output title="Right" text={task.right ?? ''} />
          </div>
        )}
        <div className="row labels-values" role="group" aria-label="Label">
          {values.map((value) => (
            <button
              key={value}
              type="button"
              className="btn"
              data-value={value}
              aria-pressed={task.state === 'labelled' && task.value === value}
              onClick={() => onGive(value)}
            >
              {value} <kbd className="kbd">{SHOWN[keyOf(value)] ?? keyOf(value)}</kbd>
            </button>
          ))}
          {task.state === 'skipped' && <span className="muted small">skipped</span>}
        </div>
        <Field
          label="Comment (c)"
          hint="Why, in your words: it is what an optimizer reads. Esc goes back to the keys."
        >
          {(given) => (
            <textarea
              {...given}
              data-comment
              className="textarea"
              rows={2}
              maxLength={2000}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onBlur={() => onComment(text)}
              onKeyDown={(event) => {
                const sent = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
                if (event.key !== 'Escape' && !sent) return;
                event.preventDefault();
                event.currentTarget.blur();
              }}
            />
          )}
        </Field>
      </div>
    </section>
  );
}

function Output({ title, text }: { title: string; text: string }) {
  return (
    <div className="field labels-output">
      <span className="label">{title}</span>
      <pre>{text}</pre>
    </div>
  );
}
