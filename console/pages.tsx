/** The pages of the console, in the order of the navigation. Each is loaded when it is first shown. */
import type { ComponentType } from 'preact';
import { isAdmin, session } from './api/session.ts';
import { LoadedComponent } from './parts/lazy.tsx';
import { place } from './router.ts';
import type { common } from './text/en.ts';

/** A page of the console. */
export interface PageEntry {
  /** First part of its address, and its name in the dictionary. */
  readonly name: Exclude<keyof typeof common.nav, 'label' | 'skip'>;
  /** Set if the menu of the person leads to it, not the navigation. */
  readonly isInMenu?: true;
  /** Whether the role of the person has it. Absent: every role has. */
  readonly isShown?: () => boolean;
  /** Its component. */
  readonly load: () => Promise<ComponentType>;
  /** The component of a place below it, such as `devices/DEV-1`. Absent: such a place shows the page itself. */
  readonly loadItem?: () => Promise<ComponentType>;
}

/** The pages, in the order of the navigation. */
export const pages: readonly PageEntry[] = [
  {
    name: 'overview',
    load: async () => (await import('./pages/overview.tsx')).OverviewPage,
  },
  {
    name: 'devices',
    load: async () => (await import('./pages/devices/page.tsx')).DevicesPage,
    loadItem: async () => (await import('./pages/device/page.tsx')).DevicePage,
  },
  {
    name: 'bench',
    load: async () => (await import('./pages/station/page.tsx')).BenchPage,
  },
  {
    name: 'activity',
    load: async () => (await import('./pages/activity.tsx')).ActivityPage,
  },
  {
    name: 'packages',
    load: async () => (await import('./pages/packages/page.tsx')).PackagesPage,
  },
  {
    name: 'users',
    isShown: () => isAdmin.value,
    load: async () => (await import('./pages/users/page.tsx')).UsersPage,
  },
  {
    name: 'tokens',
    isShown: () => isAdmin.value,
    load: async () => (await import('./pages/tokens/page.tsx')).TokensPage,
  },
  {
    name: 'webhooks',
    isShown: () => isAdmin.value,
    load: async () => (await import('./pages/webhooks/page.tsx')).WebhooksPage,
  },
  {
    name: 'account',
    isInMenu: true,
    load: async () => (await import('./pages/account/page.tsx')).AccountPage,
  },
  {
    name: 'terminal',
    isInMenu: true,
    load: async () => (await import('./pages/terminal/page.tsx')).TerminalPage,
  },
];

/** Whether the role of the person has a page. */
export const isShown = (page: PageEntry): boolean => page.isShown?.() ?? true;

/** The page that a path names; null if there is none, or the role of the person does not have it. */
export function pageAt([name = 'overview']: readonly string[]): PageEntry | null {
  return pages.find(page => page.name === name && isShown(page)) ?? null;
}

const loaded = new Map<PageEntry['load'], LoadedComponent>();

/** The component of a page, or of a place below it. */
export function componentOf({ load, loadItem = load }: PageEntry, isItem: boolean): LoadedComponent {
  const wanted = isItem ? loadItem : load;
  const component = loaded.get(wanted) ?? new LoadedComponent(wanted);
  loaded.set(wanted, component);
  return component;
}

/** Begins to load the page that the address names, if a person is signed in. */
export function startPage(): void {
  const { path } = place.peek();
  const page = session.peek() && pageAt(path);
  if (page) void componentOf(page, path.length > 1).start();
}
