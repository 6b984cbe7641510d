import console from '../../../plugins/surfaces/console.ts'
import { keepsContract } from './contract.ts'

keepsContract(console, [
  'GET /console',
  'GET /console/{release}/{file}',
  'GET /console/{release}/pages/{file}',
  'GET /console/{release}/sealed/{file}',
  'GET /console/logins',
  'POST /console/logins/{issuer}',
  'POST /console/session',
  'POST /console/session/renewal',
])
