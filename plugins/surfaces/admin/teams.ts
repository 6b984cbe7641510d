import { teamsOf } from '../../../core/access/caller.ts'
import { one } from '../../../core/container.ts'
import { BadRequest, Conflict } from '../../../core/errors.ts'
import { CurrentGeneration } from '../../../core/generations/current.ts'
import { plugin } from '../../../core/plugin.ts'
import { KeptTeams } from '../../../core/ports/credentials.ts'
import { MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { type Budgets, Settings } from '../../../core/settings.ts'

/** A team as the store keeps it, under `organization/name`. */
export interface TeamRow {
  readonly organization: string
  readonly name: string
  readonly budgets: Partial<Budgets>
  /** Unix time in ms, as the one below. */
  readonly created_at: number
  /** Null for an open team. */
  readonly closed_at: number | null
  /** How often the row was written since the team was made. */
  readonly version: number
}

/** A team with its origin: the configuration, which no route changes, or the store. */
export interface Team extends Omit<TeamRow, 'created_at'> {
  readonly source: 'configuration' | 'store'
  /** Null for a team of the configuration. */
  readonly created_at: number | null
}

type TeamChange = Partial<Pick<TeamRow, 'budgets' | 'closed_at'>>

/** Teams of the configuration and of the store. Every method rejects as the store does. */
export interface Teams {
  /** In the order of the names; a null organisation stands for every one. */
  list(organization: string | null): Promise<readonly Team[]>
  /** Null when the organisation has no such team. */
  get(organization: string, name: string): Promise<Team | null>
  /** Throws Conflict for a name that is taken, and BadRequest where the organisation has too many teams. */
  create(organization: string, name: string, budgets: Partial<Budgets>): Promise<Team>
  /** Throws Conflict where the team has another version, and for a team of the configuration. */
  change(team: Team, version: number, change: TeamChange): Promise<Team>
}

export const Teams = one<Teams>('Teams')

const teams = kind<TeamRow>('team', [['organization', 'name']])

/** Kept teams of one organisation, and of all that are listed. */
const [mostTeams, mostListed] = [2_000, 10_000]

const idOf = (organization: string, name: string): string => `${organization}/${name}`

const kept = (row: TeamRow): Team => ({ ...row, source: 'store' })

const ofConfiguration = (organization: string, name: string, budgets: Partial<Budgets>): Team => ({
  ...{ organization, name, budgets, source: 'configuration' },
  ...{ created_at: null, closed_at: null, version: 0 },
})

const byName = (one: Team, other: Team): number =>
  one.name < other.name || (one.name === other.name && one.organization < other.organization) ? -1 : 1

/** A team of the configuration goes before a kept one of its name. */
export const storedTeams = plugin({
  port: Teams,
  name: 'teams',
  needs: { rows: MetadataStore, clock: Clock, current: CurrentGeneration },
  create: ({ rows, clock, current }): Teams => {
    const organizations = () => current.supply({ settings: Settings }).settings.organizations

    const configured = (organization: string | null): readonly Team[] =>
      (organization === null ? Object.keys(organizations()) : [organization]).flatMap((owner) =>
        Object.entries(teamsOf(owner, organizations())).map(([name, budgets]) => ofConfiguration(owner, name, budgets)),
      )
    const configuredOne = (organization: string, name: string): Team | null =>
      configured(organization).find((team) => team.name === name) ?? null

    return {
      async list(organization) {
        const own = configured(organization)
        const taken = new Set(own.map((team) => idOf(team.organization, team.name)))
        const where = organization === null ? {} : { where: { organization } }
        const found = await rows.list(teams, { ...where, limit: mostListed, countTo: mostListed })
        return [...own, ...found.rows.flatMap(({ id, row }) => (taken.has(id) ? [] : [kept(row)]))].sort(byName)
      },

      async get(organization, name) {
        const own = configuredOne(organization, name)
        if (own !== null) return own
        const row = await rows.get(teams, idOf(organization, name))
        return row && kept(row)
      },

      async create(organization, name, budgets) {
        if (configuredOne(organization, name) !== null) throw new Conflict('The configuration has such a team')
        const { total } = await rows.list(teams, { where: { organization }, limit: 1, countTo: mostTeams })
        if (total >= mostTeams) throw new BadRequest('An organisation keeps at most 2000 teams')
        const row = { organization, name, budgets, created_at: clock.now(), closed_at: null, version: 0 }
        if (!(await rows.create(teams, idOf(organization, name), row))) throw new Conflict('There is such a team')
        return kept(row)
      },

      async change({ organization, name, source }, version, change) {
        if (source === 'configuration')
          throw new Conflict('The configuration has the team, and its file alone changes it')
        const id = idOf(organization, name)
        const row = await rows.update(teams, id, { ...change, version: version + 1 }, { version })
        if (row === null) throw new Conflict('The team was changed meanwhile')
        return kept(row)
      },
    }
  },
})

/** The kept teams for callers. */
export const teamsOfCallers = plugin({
  port: KeptTeams,
  name: 'teams',
  needs: { teams: Teams },
  create: ({ teams }): KeptTeams => ({
    async find(organization, name) {
      const team = await teams.get(organization, name)
      return team?.source === 'store' ? { budgets: team.budgets, isClosed: team.closed_at !== null } : null
    },
  }),
})
