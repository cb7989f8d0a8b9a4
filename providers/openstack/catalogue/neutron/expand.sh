# A new database gets its schema at once, before anything uses it. One with data is only added
# to: the pods of the release before go on with it until all are new, and the job after that
# takes away what only they need. Revisions are at the beginning of a line.
revisions=$(neutron-db-manage --subproject neutron current)
if printf '%s\n' "$revisions" | grep -qE '^(kilo|[0-9a-f]{8,})( |$)'; then
  neutron-db-manage --subproject neutron upgrade --expand
else
  neutron-db-manage --subproject neutron upgrade heads
fi
