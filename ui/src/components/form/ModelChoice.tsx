import { useDeferredValue, useState, type ReactNode } from 'react';
import { useModelCheck, useModels } from '@/api/choices';
import type { Schemas } from '@/api/client';
import { money } from '@/lib/format';
import { Choice } from './Choice';
import { Field } from './Field';

type Model = Schemas['ModelView'];
const OTHER = ' other';

/** A model out of those that the server knows, with a check of its key and its price. */
export function ModelChoice({
  label = 'Model',
  hint,
  problem,
  value,
  none,
  onChange,
}: {
  label?: string;
  hint?: ReactNode;
  problem?: string | null;
  value: string;
  /** What no model means, where that is a choice. */
  none?: string;
  onChange: (model: string) => void;
}) {
  const models = useModels();
  const items = models.data?.items ?? [];
  const providers = models.data?.providers ?? [];
  const listed = items.some((one) => one.name === value);
  const [typing, setTyping] = useState(false);
  const other = typing || (value !== '' && models.data !== undefined && !listed);
  const sought = useDeferredValue(other && value.includes('/') ? value : '');
  const check = useModelCheck(sought);
  const known = items.find((one) => one.name === value) ?? check.data;
  const options = [
    { value: '', label: none ?? (models.isPending ? 'Loading…' : 'Choose…') },
    ...items.map((one) => ({ value: one.name, label: optionText(one) })),
    ...(providers.length > 0 || other
      ? [{ value: OTHER, label: 'Another model by its name…' }]
      : []),
  ];
  return (
    <div className="stack tight">
      <Choice
        label={label}
        hint={hint}
        problem={problem}
        value={other ? OTHER : value}
        options={options}
        onChange={(chosen) => {
          setTyping(chosen === OTHER);
          onChange(chosen === OTHER ? `${providers[0] ?? 'openai'}/` : chosen);
        }}
      />
      {other && (
        <Field label="Name of the model" hint="As PROVIDER/NAME, such as openai/NAME.">
          {(given) => (
            <input
              {...given}
              className="input mono"
              autoComplete="off"
              spellCheck={false}
              value={value}
              onChange={(event) => onChange(event.target.value.trim())}
            />
          )}
        </Field>
      )}
      {known && known.name === value && <ModelState model={known} />}
    </div>
  );
}

/** Whether it can be used now, and what it costs. */
export function ModelState({ model }: { model: Model }) {
  if (!model.ready)
    return (
      <div className="notice warn" role="status">
        <div className="stack tight">
          <span>
            {model.name} cannot be used yet: {model.problem}.
          </span>
          {model.fix && <span className="small">{model.fix}</span>}
        </div>
      </div>
    );
  return (
    <p className="small muted" role="status">
      <span className="good">✓ {model.name} can be used</span> · {priceText(model)}
    </p>
  );
}

function optionText(model: Model): string {
  return model.ready ? model.name : `${model.name} (not ready)`;
}

export function priceText(model: Pick<Model, 'input_price' | 'output_price'>): string {
  const { input_price: input, output_price: output } = model;
  if (input === null || output === null) return 'its price is unknown';
  if (input === 0 && output === 0) return 'costs nothing';
  return `${money(input)} for a million tokens in, ${money(output)} out`;
}
