# A new database gets its schema at once. One with data is only added to: the pods of the
# release before go on with it until all are new, and the job after that takes away what
# only they need. Where all is done already, nothing is.
version=$(glance-manage db version)
if printf '%s\n' "$version" | grep -qE '^[[:alnum:]_]+$'; then
  glance-manage db expand
  glance-manage db migrate
else # a sentence, of a database that has no version
  glance-manage db sync
fi

glance-manage db load_metadefs
