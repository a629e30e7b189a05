/** A section that loads what it shows when it is opened: a person who looks through many devices would reach the limit of requests. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** Closed at first; `children` is called while it is open. */
export function OpenedSection({
  title,
  children,
}: {
  readonly title: string;
  readonly children: () => ComponentChildren;
}) {
  const isOpen = useSignal(false);
  return (
    <section>
      <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>
          <h2>{title}</h2>
        </summary>
        {isOpen.value && children()}
      </details>
    </section>
  );
}
