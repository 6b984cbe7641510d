import admin from '../../../plugins/surfaces/admin.ts'
import { keepsContract } from './contract.ts'

keepsContract(admin)
