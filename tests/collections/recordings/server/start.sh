#!/bin/sh
# Starts the server of the recordings; see ../README.md.
#
#     start.sh anserini-0.12.0-fatjar.jar FOLDER PORT [SETTING=VALUE ...]
#
# The jar is in the wheel of the Python package pyserini 0.12.0. Needs a JDK 17. Everything is written to FOLDER.
set -eu
jar=$1 folder=$2 port=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
classes=$folder/classes
services=$classes/META-INF/services
mkdir -p "$folder/config" "$folder/modules" "$folder/plugins" "$folder/logs" "$folder/gone" "$services"

if [ ! -e "$folder/fitted.jar" ]; then
    java --add-exports java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED "$here/Fit.java" "$jar" "$folder/part.jar"
    mv "$folder/part.jar" "$folder/fitted.jar"
fi

# Classes that moved between Lucene 8.0 and 8.3; the node names them at its start, and interval queries alone use them.
package="package org.apache.lucene.search.intervals;"
echo "$package public abstract class IntervalQuery extends org.apache.lucene.search.Query {}" >"$folder/gone/IntervalQuery.java"
for name in Intervals IntervalsSource IntervalIterator; do
    echo "$package public abstract class $name {}" >"$folder/gone/$name.java"
done
# Formats of an index that the jar holds and does not announce.
echo org.apache.lucene.codecs.lucene70.Lucene70DocValuesFormat >"$services/org.apache.lucene.codecs.DocValuesFormat"
echo org.apache.lucene.codecs.lucene70.Lucene70Codec >"$services/org.apache.lucene.codecs.Codec"

javac -proc:none -cp "$folder/fitted.jar" -d "$classes" "$here/Server.java" "$folder"/gone/*.java
exec java -Xmx1g -cp "$classes:$folder/fitted.jar" Server "$folder" "$port" "$@"
