import type { ReactNode } from 'react';
import { Field } from './Field';

export interface Option<Value extends string = string> {
  value: Value;
  label: string;
  disabled?: boolean;
}

/** One of several, by a menu. */
export function Choice<Value extends string>({
  label,
  hint,
  problem,
  value,
  disabled,
  options,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  problem?: string | null;
  value: Value;
  disabled?: boolean;
  options: readonly (Value | Option<Value>)[];
  onChange: (value: Value) => void;
}) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(given) => (
        <select
          {...given}
          className="select"
          value={value}
          disabled={disabled}
          onChange={(event) => onChange(event.target.value as Value)}
        >
          {options.map((option) => {
            const one: Option =
              typeof option === 'string' ? { value: option, label: option } : option;
            return (
              <option key={one.value} value={one.value} disabled={one.disabled}>
                {one.label}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}
