import tools from '../../../plugins/surfaces/tools.ts'
import { keepsContract } from './contract.ts'

keepsContract(tools, ['GET /tools'])
