/** Facts with their names. */
import type { ComponentChildren } from 'preact';

/** A fact: its name and its value. */
export type Fact = readonly [name: string, value: ComponentChildren];

type FactListProps = Readonly<{ facts: readonly Fact[]; class?: string; valueClass?: string }>;

/** The facts that have a value. */
export const FactList = ({ facts, class: kind = 'facts', valueClass }: FactListProps) => (
  <dl class={kind}>
    {facts.map(
      ([name, value]) =>
        (value || value === 0) && (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={valueClass}>{value}</dd>
          </div>
        ),
    )}
  </dl>
);
