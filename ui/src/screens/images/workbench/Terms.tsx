import { useState, type KeyboardEvent } from 'react';
import { Field } from '@/components/form/Field';
import { withTerm } from './form';

/** A list of words: each is added by Enter or a comma, and taken away by its button. */
export function Terms({
  label,
  terms,
  onChange,
}: {
  label: string;
  terms: readonly string[];
  onChange: (terms: readonly string[]) => void;
}) {
  const [typed, setTyped] = useState('');
  const add = () => {
    if (typed.trim() !== '') onChange(withTerm(terms, typed));
    setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) {
      // Sent as it stands, with what is typed.
      if (event.key === 'Enter') add();
    } else if (event.key === 'Enter' || event.key === ',') {
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && typed === '' && terms.length > 0) {
      onChange(terms.slice(0, -1));
    }
  };
  return (
    <Field label={label}>
      {(given) => (
        <div className="terms">
          {terms.map((term) => (
            <span key={term} className="badge">
              {term}
              <button
                type="button"
                className="terms-drop"
                aria-label={`Without ${term}`}
                onClick={() => onChange(terms.filter((one) => one !== term))}
              >
                ✕
              </button>
            </span>
          ))}
          <input
            {...given}
            className="terms-input"
            autoComplete="off"
            maxLength={200}
            placeholder={terms.length === 0 ? 'Enter adds one' : ''}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={onKeyDown}
            onBlur={add}
          />
        </div>
      )}
    </Field>
  );
}
