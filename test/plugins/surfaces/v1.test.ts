import v1 from '../../../plugins/surfaces/v1.ts'
import { keepsContract } from './contract.ts'

keepsContract(v1)
