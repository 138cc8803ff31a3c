import { useId, type KeyboardEvent, type ReactNode } from 'react';

export interface Tab {
  id: string;
  label: ReactNode;
}

/** Tabs with arrow keys; the caller keeps which one is chosen, best in the address. */
export function Tabs({
  tabs,
  chosen,
  onChoose,
  label,
  children,
}: {
  tabs: readonly Tab[];
  chosen: string;
  onChoose: (id: string) => void;
  label: string;
  children: ReactNode;
}) {
  const base = useId();
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  return (
    <div className="stack">
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${base}-${tab.id}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={tab.id === chosen}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-${chosen}`}
        className="stack"
      >
        {children}
      </div>
    </div>
  );
}

/** A few choices side by side. */
export function Segmented<Value extends string>({
  options,
  chosen,
  onChoose,
  label,
}: {
  options: readonly { value: Value; label: string }[];
  chosen: Value;
  onChoose: (value: Value) => void;
  label: string;
}) {
  return (
    <div className="segmented" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === chosen}
          onClick={() => onChoose(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
