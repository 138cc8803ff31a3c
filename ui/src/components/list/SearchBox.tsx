import { useEffect, useEffectEvent, useState } from 'react';
import './list.css';

const TYPING_MS = 250;

/** A search whose text goes into the address once nobody types any more. */
export function SearchBox({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}) {
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
  return (
    <input
      className="input list-search"
      type="search"
      data-search
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
