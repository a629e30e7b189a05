/** The pages of the console, in the order of the navigation. Each is loaded when it is first shown. */
import * as icons from 'lucide';
import type { ComponentType } from 'preact';
import { isAdmin, isHolder, mayChange, session } from './api/session.ts';
import type { IconNode } from './parts/icon.tsx';
import { type LazyComponent, lazy } from './parts/lazy.tsx';
import { place } from './router.ts';
import type { PageName } from './text/en.ts';
import { text } from './text/words.ts';

/** The groups of the navigation, in their order. */
export const groups = ['devices', 'line', 'administration'] as const;

/** A page of the console. */
export interface PageEntry {
  /** First part of its address, and its name in the dictionary. */
  readonly name: PageName;
  /** Its group in the navigation. Absent: other pages lead to it. */
  readonly group?: (typeof groups)[number];
  readonly icon?: IconNode;
  /** Whether the role of the person has it. Absent: every role has. */
  readonly isShown?: () => boolean;
  readonly Page: LazyComponent;
  /** Page of a place below it, such as `devices/DEV-1`. */
  readonly Item: LazyComponent;
}

type Load = () => Promise<ComponentType>;
const loading = () => <p role="status">{text.common.loading}</p>;

/** Without `loadItem`, places below the page show the page itself. */
function page(name: PageEntry['name'], load: Load, icon?: IconNode, loadItem?: Load): PageEntry {
  const Page = lazy(load, loading);
  return { name, Page, Item: loadItem ? lazy(loadItem, loading) : Page, ...(icon && { icon }) };
}

const inGroup = (common: Partial<PageEntry>, some: readonly PageEntry[]) => some.map(each => ({ ...common, ...each }));
const mayDo = () => mayChange.value;

/** The pages, in the order of their groups. */
export const pages: readonly PageEntry[] = [
  ...inGroup({ group: 'devices' }, [
    page('overview', async () => (await import('./pages/overview.tsx')).OverviewPage, icons.LayoutDashboard),
    page(
      'devices',
      async () => (await import('./pages/devices/page.tsx')).DevicesPage,
      icons.KeyRound,
      async () => (await import('./pages/device/page.tsx')).DevicePage,
    ),
    page('station', async () => (await import('./pages/station/page.tsx')).ThisStationPage, icons.ScanLine),
    page('activity', async () => (await import('./pages/activity.tsx')).ActivityPage, icons.Activity),
  ]),
  ...inGroup({ group: 'line' }, [
    page(
      'lots',
      async () => (await import('./pages/line/groups.tsx')).LotsPage,
      icons.Boxes,
      async () => (await import('./pages/line/report.tsx')).LotPage,
    ),
    page(
      'stations',
      async () => (await import('./pages/line/groups.tsx')).StationsPage,
      icons.MonitorCheck,
      async () => (await import('./pages/line/report.tsx')).StationPage,
    ),
    {
      ...page('cleanup', async () => (await import('./pages/cleanup/page.tsx')).CleanupPage, icons.BrushCleaning),
      isShown: mayDo,
    },
    page('packages', async () => (await import('./pages/files/page.tsx')).PackagesPage, icons.Package),
  ]),
  ...inGroup({ group: 'administration', isShown: () => isAdmin.value }, [
    {
      ...page(
        'people',
        async () => (await import('./pages/people/page.tsx')).PeoplePage,
        icons.Contact,
        async () => (await import('./pages/people/person.tsx')).PersonPage,
      ),
      isShown: mayDo,
    },
    page(
      'users',
      async () => (await import('./pages/accounts/page.tsx')).UsersPage,
      icons.Users,
      async () => (await import('./pages/accounts/user.tsx')).UserPage,
    ),
    page(
      'tokens',
      async () => (await import('./pages/accounts/tokens.tsx')).TokensPage,
      icons.Ticket,
      async () => (await import('./pages/accounts/tokens.tsx')).TokenPage,
    ),
    page('policies', async () => (await import('./pages/policies/page.tsx')).PoliciesPage, icons.Scale),
    page('trust', async () => (await import('./pages/proofs/page.tsx')).TrustPage, icons.ShieldCheck),
    page(
      'webhooks',
      async () => (await import('./pages/webhooks/page.tsx')).WebhooksPage,
      icons.Webhook,
      async () => (await import('./pages/webhooks/page.tsx')).WebhookPage,
    ),
    page(
      'providers',
      async () => (await import('./pages/issuing/page.tsx')).ProvidersPage,
      icons.IdCard,
      async () => (await import('./pages/issuing/page.tsx')).ProviderPage,
    ),
    page('health', async () => (await import('./pages/health/page.tsx')).HealthPage, icons.HeartPulse),
  ]),
  { ...page('import', async () => (await import('./pages/import/page.tsx')).ImportPage), isShown: mayDo },
  { ...page('cases', async () => (await import('./pages/people/cases.tsx')).CasesPage), isShown: () => isAdmin.value },
  page('account', async () => (await import('./pages/accounts/own-account.tsx')).AccountPage),
  page('terminal', async () => (await import('./pages/sign-in/terminal.tsx')).TerminalPage),
];

/** The only page of a HOLDER, wherever an address leads. */
const ownKeys = page('me', async () => (await import('./pages/holder/page.tsx')).OwnKeysPage);

/** Whether the role of the person has a page. */
export const isShown = (page: PageEntry): boolean => page.isShown?.() ?? true;

/** The page that a path names; null if there is none, or the role of the person does not have it. */
export const pageAt = ([name = 'overview']: readonly string[]): PageEntry | null =>
  isHolder.value ? ownKeys : (pages.find(page => page.name === name && isShown(page)) ?? null);

/** The component of a path on its page. */
export const componentOf = ({ Page, Item }: PageEntry, path: readonly string[]): LazyComponent =>
  path.length > 1 ? Item : Page;

/** Loads the page that the address names, if a person is signed in. */
export async function startPage(): Promise<void> {
  const { path } = place.peek();
  const page = session.peek() && pageAt(path);
  if (page) await componentOf(page, path).start();
}
