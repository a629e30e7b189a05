/** Buttons that open a menu. What draws the menu is loaded when one is first opened. */
import { useSignal } from '@preact/signals';
import { Ellipsis } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { text } from '../text/words.ts';
import { Icon } from './icon.tsx';
import { lazy } from './lazy.tsx';
import type { MenuGroup } from './menu-list.tsx';

export type { MenuGroup };

const MenuList = lazy(async () => (await import('./menu-list.tsx')).MenuList);

interface MenuButtonProps {
  /** Its name, if what it shows is not words. */
  readonly label?: string;
  readonly class?: string;
  /** Called when it is opened, and while it is open. */
  readonly groups: () => readonly MenuGroup[];
  readonly children: ComponentChildren;
}

/** A button with a menu: Enter, Space and the arrow keys open it, Esc and a press outside close it. */
export function MenuButton({ label, groups, children, ...rest }: MenuButtonProps) {
  const id = useId();
  /** The key or pointer that opened it decides whether an item is marked at once. */
  const opened = useSignal<'key' | 'pointer' | null>(null);
  return (
    <>
      <button
        id={id}
        type="button"
        aria-haspopup="menu"
        aria-expanded={opened.value !== null}
        {...(label && { 'aria-label': label })}
        {...rest}
        onClick={event => (opened.value = opened.value ? null : event.detail ? 'pointer' : 'key')}
        onKeyDown={event => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          opened.value = 'key';
        }}
      >
        {children}
      </button>
      {opened.value && (
        <MenuList
          button={id}
          groups={groups()}
          isByKey={opened.value === 'key'}
          onClose={() => (opened.value = null)}
        />
      )}
    </>
  );
}

interface MoreButtonProps {
  /** The record that the items are about. */
  readonly of: string;
  readonly groups: readonly MenuGroup[];
  readonly class?: string;
}

/** Actions on a record, behind "⋯"; nothing if no group has an item. */
export function MoreButton({ of, groups, ...rest }: MoreButtonProps) {
  const offered = groups.filter(({ items }) => items.length > 0);
  if (!offered.length) return null;
  return (
    <MenuButton {...rest} label={text.common.actionsFor(of)} groups={() => offered}>
      <Icon of={Ellipsis} />
    </MenuButton>
  );
}
