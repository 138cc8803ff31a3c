import { useEffect, useEffectEvent, useState } from 'react';
import './list.css';

const TYPING_MS = 250;

interface SearchProps {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}

/** A search that answers each letter; `/` leads to it. */
export function SearchInput({
  label,
  placeholder,
  value,
  onChange,
  className = '',
}: SearchProps & { className?: string }) {
  return (
    <input
      className={`input ${className}`}
      type="search"
      data-search
      aria-label={label}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** A search whose text goes into the address once nobody types any more. */
export function SearchBox({ value, onChange, ...words }: SearchProps) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  // The address may change by other means, such as the button that clears it.
  if (value !== known) {
    setKnown(value);
    setText(value);
  }
  const send = useEffectEvent(() => text !== value && onChange(text));
  useEffect(() => {
    const timer = setTimeout(send, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <SearchInput {...words} className="list-search" value={text} onChange={setText} />;
}
